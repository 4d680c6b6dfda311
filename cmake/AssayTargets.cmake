# Flags that every target of this project shares, and the two functions that make targets.

add_library(assay_flags INTERFACE)
# No contraction: the source says where a fused multiply-add is meant, so results do not depend on the optimiser.
target_compile_options(assay_flags INTERFACE -ffp-contract=off -fno-math-errno)
target_include_directories(assay_flags INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
if(ASSAY_DEV)
  target_compile_options(assay_flags INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Werror)
  target_compile_options(assay_flags INTERFACE $<$<CONFIG:RelWithDebInfo>:-UNDEBUG>)
endif()
if(ASSAY_SANITIZE)
  target_compile_options(assay_flags INTERFACE -fsanitize=${ASSAY_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(assay_flags INTERFACE -fsanitize=${ASSAY_SANITIZE})
endif()
if(ASSAY_FUZZ)
  target_compile_options(assay_flags INTERFACE -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
  # Indices past a span or a view are inside somebody else's memory more often than not, where no sanitizer sees them.
  target_compile_definitions(assay_flags INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(assay_flags INTERFACE -fsanitize=address,undefined)
endif()

# assay_library(NAME SOURCES a.cc ... DEPS lib ...): one layer of the engine.
function(assay_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC assay_flags ${ARG_DEPS})
endfunction()

# assay_test(NAME SOURCES a_test.cc ... DEPS lib ... [LEVELS] [SLOW]): one test program beside the code it tests.
# LEVELS: the tests reach a kernel, so they run once per CPU level that the machine has.
# SLOW: not part of the fast suite. FIXTURES: ctest fixtures that the tests need.
function(assay_test name)
  cmake_parse_arguments(ARG "LEVELS;SLOW" "" "SOURCES;DEPS;FIXTURES" ${ARGN})
  if(NOT ASSAY_DEV)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES} ${PROJECT_SOURCE_DIR}/tests/test_main.cc)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} assay_testing GTest::gmock GTest::gtest)
  target_compile_definitions(${name} PRIVATE ASSAY_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  set(properties LABELS fast)
  if(ARG_SLOW)
    set(properties LABELS slow)
  endif()
  if(ARG_FIXTURES)
    list(APPEND properties FIXTURES_REQUIRED "${ARG_FIXTURES}")
  endif()
  if(ARG_LEVELS)
    foreach(level IN LISTS ASSAY_TEST_LEVELS)
      gtest_discover_tests(${name} TEST_PREFIX "${level}/" PROPERTIES ENVIRONMENT "ASSAY_CPU=${level}" ${properties}
                           DISCOVERY_MODE PRE_TEST)
    endforeach()
  else()
    gtest_discover_tests(${name} PROPERTIES ${properties} DISCOVERY_MODE PRE_TEST)
  endif()
endfunction()
