#include "base/python_random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "assay/error.h"

namespace assay {
namespace {

using ::testing::ElementsAre;

std::vector<uint32_t> FirstThree(std::string_view seed) {
  PythonRandom random(seed);
  return {random.Bits32(), random.Bits32(), random.Bits32()};
}

uint32_t Word(std::string_view seed, size_t index) {
  PythonRandom random(seed);
  for (size_t i = 0; i < index; ++i) random.Bits32();
  return random.Bits32();
}

std::vector<int> Counted(size_t count) {
  std::vector<int> out(count);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

// What CPython 3.11's Random(seed).getrandbits(32) gives; seed 0 is also in spec kev 7.3.
TEST(PythonRandom, DrawsThePythonWords) {
  EXPECT_THAT(FirstThree("0"), ElementsAre(3626764237, 1654615998, 3255389356));
  EXPECT_THAT(FirstThree("-0"), ElementsAre(3626764237, 1654615998, 3255389356));
  EXPECT_THAT(FirstThree("1"), ElementsAre(577090037, 2444712010, 3639700191));
  EXPECT_THAT(FirstThree("4294967296"), ElementsAre(485306839, 1508871100, 1794561286));
  EXPECT_THAT(FirstThree("-5"), ElementsAre(2675342405, 1097127993, 3185950873));
  EXPECT_THAT(FirstThree("12345678901234567890123"),
              ElementsAre(678764485, 4198308164, 4236283067));
  EXPECT_EQ(Word("0", 2002), 3514948031);
  EXPECT_EQ(Word("1" + std::string(50, '0'), 2002), 1659977380);
  EXPECT_EQ(Word("1" + std::string(3999, '0') + "7", 0), 3192286888);  // longer than the state
}

TEST(PythonRandom, ShufflesAsPython) {
  PythonRandom random("3");
  std::vector<int> ten = Counted(10);
  random.Shuffle(std::span(ten));
  EXPECT_THAT(ten, ElementsAre(1, 5, 6, 0, 9, 4, 7, 2, 8, 3));
  std::vector<int> more = Counted(300);
  random.Shuffle(std::span(more));
  more.resize(8);
  EXPECT_THAT(more, ElementsAre(193, 210, 149, 63, 6, 91, 270, 46));
}

TEST(PythonRandom, DrawsNothingForOneItem) {
  PythonRandom random("0");
  std::vector<int> one = {5};
  random.Shuffle(std::span(one));
  random.Shuffle(std::span<int>());
  EXPECT_EQ(random.Bits32(), 3626764237);
}

TEST(PythonRandom, RefusesWhatIsNoSeed) {
  for (const std::string& seed :
       {std::string(), std::string("-"), std::string("1.5"), std::string("+1"), std::string("0x1"),
        std::string(PythonRandom::kMaxSeedDigits + 1, '1')}) {
    EXPECT_THROW(PythonRandom{seed}, Error) << seed;
  }
  EXPECT_NO_THROW(PythonRandom{std::string(PythonRandom::kMaxSeedDigits, '9')});
}

}  // namespace
}  // namespace assay
