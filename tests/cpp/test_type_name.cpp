// Tests of the names of types that the texts of kernels have.
#include "../../src/cpp/backend/link_data.h"
#include "../../src/cpp/backend/type_name.h"
#include "../../src/cpp/lattice/stencils/all.h"
#include "../../src/cpp/lattice/turbulence/all.h"
#include "../../src/cpp/lattice/turbulence/gradient_terms.h"
#include "check.h"

TEST(type_name_has_all_namespaces) {
    using lbm::backend::spelled;
    CHECK_EQUAL(spelled<float>(), "float");
    CHECK_EQUAL(spelled<lbm::D2Q9>(), "lbm::D2Q9");
    CHECK_EQUAL(spelled<lbm::backend::SpongeCell>(), "lbm::backend::SpongeCell");
    const std::string terms = spelled<lbm::GradientTerms<lbm::WALE, true>>();
    CHECK_EQUAL(terms, "lbm::GradientTerms<lbm::WALE, true>");
}
