// The source tree keeps the rules of layering, and each rule finds its offence in a bad tree.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/layering/rules.h"
#include "tests/layering/source_tree.h"
#include "tests/support/temporary_folder.h"

namespace trireme::layering {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(SourceTree, HasTheFilesOfTheProject) {
  EXPECT_GT(read_source_tree(TRIREME_SOURCE).size(), 50u);
}

TEST(SourceTree, HasNoArrowUpOrSideways) {
  EXPECT_THAT(arrows_that_do_not_go_down(read_source_tree(TRIREME_SOURCE)), IsEmpty());
}

TEST(SourceTree, HasNoCycle) {
  EXPECT_THAT(cycles_between_folders(read_source_tree(TRIREME_SOURCE)), IsEmpty());
}

TEST(SourceTree, HasNoFileThatIsTooLong) {
  EXPECT_THAT(files_that_are_too_long(read_source_tree(TRIREME_SOURCE)), IsEmpty());
}

TEST(SourceTree, HasNoConditionalInCallers) {
  EXPECT_THAT(conditionals_in_callers(read_source_tree(TRIREME_SOURCE)), IsEmpty());
}

class BadTree : public testing::Test {
 protected:
  void SetUp() override {
    write("base/check.h", "#include <string>\n");
    write("kernels/ops.h", "#include \"base/check.h\"\n");
    write("runtime/model/stage.h", "#include \"kernels/ops.h\"\n");
    write("launch/main.cc", "#include \"runtime/model/stage.h\"\n");
  }
  void write(const std::string& path, const std::string& text) const { root_.write(path, text); }
  std::vector<SourceFile> files() const { return read_source_tree(root_.path()); }

 private:
  const test::TemporaryFolder root_;
};

TEST_F(BadTree, IsGoodBeforeItIsSpoilt) {
  EXPECT_EQ(files().size(), 4u);
  EXPECT_THAT(arrows_that_do_not_go_down(files()), IsEmpty());
  EXPECT_THAT(cycles_between_folders(files()), IsEmpty());
  EXPECT_THAT(files_that_are_too_long(files()), IsEmpty());
  EXPECT_THAT(conditionals_in_callers(files()), IsEmpty());
}

TEST_F(BadTree, ShowsAnArrowUp) {
  write("kernels/bad.cc", "\n  #  include \"runtime/model/stage.h\"\n");
  EXPECT_THAT(arrows_that_do_not_go_down(files()),
              ElementsAre(HasSubstr("kernels/bad.cc:2: \"runtime/model/stage.h\"")));
}

TEST_F(BadTree, ShowsAnArrowSidewaysBetweenLeaves) {
  write("scheduler/bad.h", "#include \"kernels/ops.h\"\n");
  EXPECT_THAT(arrows_that_do_not_go_down(files()), ElementsAre(HasSubstr("scheduler may not use kernels")));
}

TEST_F(BadTree, ShowsAnArrowAgainstTheOrderWithinRuntime) {
  write("runtime/config/bad.h", "#include \"runtime/engine/engine.h\"\n");
  EXPECT_THAT(arrows_that_do_not_go_down(files()), ElementsAre(HasSubstr("runtime/config may not use runtime/engine")));
}

TEST_F(BadTree, ShowsAnIncludeOfTestsAndOneThatIsNotFromTheRoot) {
  write("launch/bad.cc", "#include \"tests/support/golden.h\"\n#include \"command.h\"\n");
  EXPECT_THAT(arrows_that_do_not_go_down(files()),
              ElementsAre(HasSubstr("launch may not use tests"), HasSubstr("include from the root")));
}

TEST_F(BadTree, ShowsAFolderThatTheOrderDoesNotKnow) {
  write("runtime/new_part/bad.h", "#include \"base/check.h\"\n");
  EXPECT_THAT(arrows_that_do_not_go_down(files()), ElementsAre(HasSubstr("runtime/new_part, which has no place")));
}

TEST_F(BadTree, ShowsACycle) {
  write("base/bad.h", "#include \"kernels/ops.h\"\n");
  EXPECT_THAT(cycles_between_folders(files()), ElementsAre("base -> kernels -> base"));
}

TEST_F(BadTree, ShowsALongFile) {
  std::string text;
  for (int line = 0; line < 401; ++line) text += "\n";
  write("base/long.h", text);
  EXPECT_THAT(files_that_are_too_long(files()), ElementsAre(HasSubstr("base/long.h:401: more than 400 lines")));
}

TEST_F(BadTree, ShowsABackendConditional) {
  write("runtime/model/bad.cc", "#ifdef TRIREME_WITH_CUDA\n#endif\n#if defined(USE_MPI) && __GNUC__ > 4\n#endif\n");
  EXPECT_THAT(conditionals_in_callers(files()), ElementsAre(HasSubstr("bad.cc:1: conditional on TRIREME_WITH_CUDA"),
                                                            HasSubstr("bad.cc:3: conditional on USE_MPI")));
}

}  // namespace
}  // namespace trireme::layering
