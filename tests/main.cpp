// The Boost.Test entry point, linked into every test program.
#define BOOST_TEST_MODULE sortie
#include <boost/test/unit_test.hpp>
