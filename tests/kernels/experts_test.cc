// route_experts, group_by_expert, grouped_linear and combine_experts.
#include "tests/kernels/backend_test.h"
#include "tests/kernels/packed_weights.h"

namespace trireme::kernels {
namespace {

class ExpertsTest : public BackendTest {
 protected:
  struct Routing {
    std::vector<std::int32_t> experts;
    std::vector<float> weights;
  };
  Routing route(const std::vector<float>& logits, std::int64_t num_experts, std::int64_t num_chosen, bool renormalise) {
    const auto rows = static_cast<std::int64_t>(logits.size()) / num_experts;
    const auto size = static_cast<std::size_t>(rows * num_chosen);
    Routing routing{std::vector<std::int32_t>(size), std::vector<float>(size)};
    ops_.route_experts(
        {logits.data(), routing.experts.data(), routing.weights.data(), rows, num_experts, num_chosen, renormalise},
        kStream);
    return routing;
  }
};

TEST_P(ExpertsTest, RoutingTakesTheLargestInOrderAndTheFirstOfEqualOnes) {
  const Routing routing = route({0.0f, 3.0f, -1.0f, 3.0f, 2.0f}, 5, 3, true);
  EXPECT_EQ(routing.experts, (std::vector<std::int32_t>{1, 3, 4}));
  EXPECT_FLOAT_EQ(routing.weights[0], routing.weights[1]);
  EXPECT_FLOAT_EQ(routing.weights[2] / routing.weights[0], std::exp(-1.0f));
  EXPECT_FLOAT_EQ(routing.weights[0] + routing.weights[1] + routing.weights[2], 1.0f);
}

TEST_P(ExpertsTest, WithoutRenormalisationWeightsAreProbabilitiesAmongAll) {
  const Routing routing = route({1.0f, 0.0f, -50.0f, 0.0f}, 4, 2, false);
  EXPECT_FLOAT_EQ(routing.weights[0], std::exp(1.0f) / (std::exp(1.0f) + 2.0f));
  EXPECT_FLOAT_EQ(routing.weights[1], 1.0f / (std::exp(1.0f) + 2.0f));
}

TEST_P(ExpertsTest, RoutingOfNotANumberGivesDifferentExpertsAndNoNumber) {
  const Routing routing = route(std::vector<float>(4, std::nanf("")), 4, 3, true);
  EXPECT_EQ(routing.experts, (std::vector<std::int32_t>{0, 1, 2}));
  for (const float weight : routing.weights) EXPECT_TRUE(std::isnan(weight));
}

TEST_P(ExpertsTest, ARowIsRoutedTheSameInAnyBatch) {
  const auto logits = normal(700 * 16, 3.0f);
  const Routing all = route(logits, 16, 4, true);
  for (const std::size_t row : {std::size_t{0}, std::size_t{513}, std::size_t{699}}) {
    const auto begin = logits.begin() + static_cast<std::ptrdiff_t>(row * 16);
    const Routing alone = route(std::vector<float>(begin, begin + 16), 16, 4, true);
    EXPECT_TRUE(same_bits(alone.weights, std::span(all.weights).subspan(row * 4, 4)));
    EXPECT_EQ(alone.experts, std::vector<std::int32_t>(all.experts.begin() + static_cast<std::ptrdiff_t>(row * 4),
                                                       all.experts.begin() + static_cast<std::ptrdiff_t>(row * 4 + 4)));
  }
}

TEST_P(ExpertsTest, GroupsAreInOrderOfExpertAndRow) {
  const std::vector<std::int32_t> experts = {2, 0, 0, 3, 2, 3};  // three rows of two
  std::vector<std::int32_t> places(6), rows(6), offsets(5);
  ops_.group_by_expert({experts.data(), places.data(), rows.data(), offsets.data(), 3, 4, 2}, kStream);
  EXPECT_EQ(offsets, (std::vector<std::int32_t>{0, 2, 2, 4, 6}));
  EXPECT_EQ(rows, (std::vector<std::int32_t>{0, 1, 0, 2, 1, 2}));
  EXPECT_EQ(places, (std::vector<std::int32_t>{2, 0, 1, 4, 3, 5}));
}

TEST_P(ExpertsTest, GroupingNoRowsGivesEmptyGroups) {
  std::vector<std::int32_t> offsets(4, 7);
  ops_.group_by_expert({nullptr, nullptr, nullptr, offsets.data(), 0, 3, 2}, kStream);
  EXPECT_EQ(offsets, std::vector<std::int32_t>(4, 0));
}

TEST_P(ExpertsTest, AGroupedRowHasTheBitsOfLinearWithItsGroupsWeights) {
  constexpr std::int64_t kIn = 67, kOut = 70;
  const std::vector<std::int32_t> offsets = {0, 3, 3, 20, 21};
  std::vector<PackedWeights> packed;
  std::vector<PackedMatrixView> weights;
  for (std::size_t g = 0; g + 1 < offsets.size(); ++g)
    packed.emplace_back(PackedMatrixShape{WeightFormat::kF32, kOut, kIn}, normal(kOut * kIn));
  for (const PackedWeights& matrix : packed) weights.push_back(matrix.view());
  const auto input = normal(21 * kIn);
  GuardedFloats output(21 * kOut);
  ops_.grouped_linear({input.data(), kIn, weights, offsets.data(), output.data(), kOut, 21}, kStream);
  EXPECT_TRUE(output.guards_intact());
  std::vector<float> expected(kOut);
  for (std::int64_t row = 0; row < 21; ++row) {
    const std::size_t group = row < 3 ? 0 : row < 20 ? 2 : 3;
    ops_.linear({input.data() + row * kIn, kIn, weights[group], nullptr, expected.data(), kOut, 1}, kStream);
    EXPECT_TRUE(same_bits(output.span().subspan(static_cast<std::size_t>(row * kOut), kOut), expected)) << row;
  }
}

TEST_P(ExpertsTest, CombiningAgreesWithReferenceAtAllSizes) {
  const std::vector<std::int32_t> places = {5, 0, 3, 1, 2, 4};
  const std::vector<float> weights = {0.7f, 0.2f, 0.1f, 0.5f, 0.3f, 0.2f};
  for (const std::int64_t size : interesting_sizes()) {
    const auto input = normal(6 * size), before = normal(2 * size);
    GuardedFloats output(before);
    std::vector<float> expected = before;
    ops_.combine_experts({input.data(), places.data(), weights.data(), output.data(), 2, 3, size}, kStream);
    reference_->combine_experts({input.data(), places.data(), weights.data(), expected.data(), 2, 3, size}, kStream);
    EXPECT_TRUE(output.guards_intact());
    expect_near(output.span(), expected, [&](std::size_t) { return 4 * kEpsilon * 16; });  // all terms are below 16
  }
}

TRIREME_FOR_ALL_BACKENDS(ExpertsTest);

}  // namespace
}  // namespace trireme::kernels
