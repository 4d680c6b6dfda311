#include "kernels/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "testing/random.h"

namespace assay::kernels {
namespace {

using ::assay::testing::Random;

// Keys, values and queries of one sequence, with pages of its own.
class Sequence {
 public:
  Sequence(Random& random, const AttentionShape& shape, size_t length)
      : shape_(shape),
        length_(length),
        queries_(random.Floats(length * shape.heads * shape.head_dim, 2)),
        keys_(random.Floats(length * shape.kv_width(), 2)),
        values_(random.Floats(length * shape.kv_width())) {
    const size_t pages = (length + kPagePositions - 1) / kPagePositions;
    storage_.resize(pages * 2 * shape.page_floats(),
                    NAN);  // what was never written must never be read into a result
    for (size_t p = 0; p < pages; ++p) {
      float* at = storage_.data() + p * 2 * shape.page_floats();
      pages_.push_back({at, at + shape.page_floats()});
    }
  }

  // One number of the key at `position`, in every kv head's first dimension.
  void SpoilKey(size_t position) {
    for (size_t head = 0; head < shape_.kv_heads; ++head) {
      keys_[position * shape_.kv_width() + head * shape_.head_dim] = NAN;
    }
  }

  AttentionPart Part(size_t first, size_t count, std::vector<float>& out) {
    const size_t width = shape_.heads * shape_.head_dim;
    StoreKeysAndValues(shape_, {keys_.data() + first * shape_.kv_width(), count, shape_.kv_width()},
                       {values_.data() + first * shape_.kv_width(), count, shape_.kv_width()},
                       first, pages_);
    return {{queries_.data() + first * width, count, width},
            first,
            pages_,
            {out.data() + first * width, count, width}};
  }

  // The whole sequence in pieces.
  std::vector<float> Run(const std::vector<size_t>& pieces, size_t threads = 2) {
    std::vector<float> out(length_ * shape_.heads * shape_.head_dim);
    Threads pool(threads);
    size_t at = 0;
    for (const size_t count : pieces) {
      const AttentionPart part = Part(at, count, out);
      Attention(pool, shape_, std::span(&part, 1));
      at += count;
    }
    return out;
  }

 private:
  AttentionShape shape_;
  size_t length_;
  std::vector<float> queries_, keys_, values_, storage_;
  std::vector<KvPageView> pages_;
};

class AttentionShapes : public ::testing::TestWithParam<AttentionShape> {};

TEST_P(AttentionShapes, EqualsTheReference) {
  for (const size_t length : {1u, 2u, 63u, 64u, 65u, 130u}) {
    Random random(length);
    Sequence sequence(random, GetParam(), length);
    const std::vector<float> got = sequence.Run({length});
    std::vector<float> expected(got.size());
    AttentionRef(GetParam(), sequence.Part(0, length, expected));
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], expected[i], 4e-6) << length << " " << i;
  }
}

TEST_P(AttentionShapes, EverySplitHasTheBitsOfTheWhole) {
  const size_t length = 131;
  Random random(5);
  Sequence sequence(random, GetParam(), length);
  const std::vector<float> whole = sequence.Run({length}, 1);
  for (const size_t first : {1u, 16u, 17u, 63u, 64u, 65u, 128u, 130u}) {
    Random again(5);
    Sequence split(again, GetParam(), length);
    EXPECT_EQ(split.Run({first, length - first}), whole) << first;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, AttentionShapes,
                         ::testing::Values(AttentionShape{6, 2, 16}, AttentionShape{4, 2, 64},
                                           AttentionShape{8, 2, 256}, AttentionShape{1, 1, 8},
                                           AttentionShape{5, 1, 40}, AttentionShape{8, 1, 20}));

TEST(Attention, SequencesOfOnePassDoNotMix) {
  const AttentionShape shape{4, 2, 32};
  Random random(8);
  Sequence a(random, shape, 70), b(random, shape, 33);
  const std::vector<float> alone_a = a.Run({70}), alone_b = b.Run({33});
  std::vector<float> out_a(alone_a.size()), out_b(alone_b.size());
  const AttentionPart parts[] = {a.Part(0, 70, out_a), b.Part(0, 33, out_b)};
  Threads pool(3);
  Attention(pool, shape, parts);
  EXPECT_EQ(out_a, alone_a);
  EXPECT_EQ(out_b, alone_b);
}

// As the makers' softmax: a broken key must not pass for one that nobody looks at. Queries before
// it do not see it.
TEST(Attention, AScoreThatIsNotANumberMakesTheResultNotANumber) {
  const AttentionShape shape{2, 1, 16};
  Random random(9), again(9);
  Sequence sound(random, shape, 70), broken(again, shape, 70);
  broken.SpoilKey(40);
  const std::vector<float> expected = sound.Run({70}), got = broken.Run({70});
  for (size_t i = 0; i < got.size(); ++i) {
    if (i / 32 < 40) {
      ASSERT_EQ(got[i], expected[i]) << i;
    } else {
      ASSERT_TRUE(std::isnan(got[i])) << i;
    }
  }
}

}  // namespace
}  // namespace assay::kernels
