#include "kernels/cpu/linear_task.h"

#include <vector>

#include <gtest/gtest.h>

namespace trireme::kernels::cpu {
namespace {

LinearArgs args_of(std::int64_t num_rows, std::int64_t num_panels) {
  LinearArgs args{};
  args.num_rows = num_rows;
  args.weights.shape = {WeightFormat::kF16, num_panels * kPanelWidth, 64};
  return args;
}

TEST(LinearSplitTest, TasksCoverEachPanelOfEachRowOnce) {
  for (const std::int64_t num_rows : {1, 64, 65, 384, 385, 1000}) {
    for (const std::int64_t num_panels : {1, 2, 7, 18, 97, 1536}) {
      for (const int num_threads : {1, 2, 3, 16, 96}) {
        const LinearSplit split(args_of(num_rows, num_panels), num_threads);
        std::int64_t next_row = 0, next_panel = 0;
        for (std::int64_t i = 0; i < split.num_tasks(); ++i) {
          const LinearTask task = split.task(i);
          ASSERT_EQ(task.row_begin, next_row);
          ASSERT_GT(task.row_end, task.row_begin);
          ASSERT_EQ(task.panel_begin, next_panel);
          ASSERT_GT(task.panel_end, task.panel_begin);
          next_panel = task.panel_end % num_panels;
          if (next_panel == 0) next_row = task.row_end;
        }
        ASSERT_EQ(next_row, num_rows);
        ASSERT_EQ(next_panel, 0);
      }
    }
  }
}

TEST(LinearSplitTest, FewRowsBeginWithLongRunsAndEndWithSinglePanels) {
  const LinearSplit split(args_of(1, 18), 2);
  std::vector<std::int64_t> lengths;
  for (std::int64_t i = 0; i < split.num_tasks(); ++i) {
    lengths.push_back(split.task(i).panel_end - split.task(i).panel_begin);
  }
  EXPECT_EQ(lengths, (std::vector<std::int64_t>{4, 4, 2, 2, 1, 1, 1, 1, 1, 1}));
}

}  // namespace
}  // namespace trireme::kernels::cpu
