#include "testing.h"

#include "numerics/special/normal.h"

/* log Phi, Phi and the Mills ratio Phi(-x)/phi(x). source: mpmath 1.4.1, erfc with 60 digits (450 for log Phi of
 * positive x), rounded to 20. A ratio of 0 means that it is not compared: it exceeds every double. */
static const struct {
    double x, log_cdf, cdf, mills;
} known[] = {
    {-10000, -50000010.129278915181, 0, 0},
    {-1000, -500007.82669481218431, 0, 0},
    {-100, -5005.5242086942050886, 0, 0},
    {-40, -804.60844201375378817, 0, 0},
    {-38.5, -745.69527029041108133, 0, 0},
    {-20, -203.91715537109726394, 2.7536241186062336951e-89, 1.8112830158925916156e+87},
    {-10, -53.231285150512470578, 7.619853024160526066e-24, 1.2996129473592022903e+22},
    {-5, -15.064998393988725736, 2.8665157187919391167e-7, 672621.63672287925231},
    {-4, -10.360101486527290828, 0.000031671241833119921254, 7471.9169234229941381},
    {-2.5, -5.0816482772786904984, 0.006209665325776135167, 56.69633145773968231},
    {-1, -1.8410216450092635058, 0.15865525393145705141, 3.4770518117036944669},
    {-0.125, -0.79792614275302409024, 0.45026177516988710702, 1.3887970826457579019},
    {0, -0.69314718055994530942, 0.5, 1.2533141373155002512},
    {0.125, -0.59831306891242499386, 0.54973822483011289298, 1.1374909212036045148},
    {1, -0.17275377902344988953, 0.84134474606854294859, 0.65567954241879847154},
    {2.5, -0.006229025485860002381, 0.99379033467422386483, 0.35426511132979366678},
    {5, -2.8665161296376359338e-7, 0.99999971334842812081, 0.19280810471531576488},
    {8.25, -7.9197263146424776546e-17, 0.9999999999999999208, 0.11950448239925296423},
    {6.7, -1.0420976988019479421e-11, 0.99999999998957902301, 0.14612954006280872123},
    {7.3, -1.4388386381576911611e-13, 0.99999999999985611614, 0.13454838715917070235},
    {9.1, -4.5165914914354568619e-20, 0.99999999999999999995, 0.10860848843849041649},
    {9.9, -2.0813752194932061247e-23, 1.0, 0.10000953303383248167},
    {10.1, -2.7621094717645167894e-24, 1.0, 0.098066544082816398947},
    {13.7, -5.0762148115978792225e-43, 1.0, 0.072609856818820206934},
    {20, -2.7536241186062336951e-89, 1.0, 0.049875925981836783658},
    {37.5, -4.6053530095819548438e-308, 1.0, 0.026647744014898550332},
};
enum { KNOWN = sizeof known / sizeof known[0] };

/* The bounds that normal.h states, plus one unit for the constants, which are rounded when they are read. */
#define UNITS(n) (((n) + 1) * 0x1p-53)

static void test_known_values_are_met_within_the_stated_error(void **state) {
    (void)state;
    for (int i = 0; i < KNOWN; i++) {
        check_near(mfpg_normal_log_cdf(known[i].x), known[i].log_cdf, UNITS(14), 0, "log Phi");
        check_near(mfpg_normal_cdf(known[i].x), known[i].cdf, UNITS(10), 0, "Phi");
        if (known[i].mills > 0)
            check_near(mfpg_normal_mills(known[i].x), known[i].mills, UNITS(9), 0, "Mills");
    }
}

/* source: mpmath 1.4.1, 1 - x sqrt(pi/2) exp(x^2/2) erfc(x/sqrt 2) with 60 digits. */
static void test_mills_slope_meets_known_values(void **state) {
    (void)state;
    const struct {
        double x, slope, units;
    } slopes[] = {{0.5, 0.56181777177315382664, 9 * 2.6}, {1, 0.34432045758120152846, 9 * 4.9},
        {3.75, 0.059645832085131150137, 9 * 32.6}, {4, 0.053390468345757317504, 6},
        {4.25, 0.048039972721227564638, 6}, {6, 0.025734034618795229106, 6},
        {30, 0.0011074278250835985439, 6}, {1000, 9.99997000014999895e-7, 6}};
    for (size_t i = 0; i < sizeof slopes / sizeof slopes[0]; i++)
        check_near(
            mfpg_normal_mills_slope(slopes[i].x), slopes[i].slope, UNITS(slopes[i].units), 0, "Mills slope");
    /* It is minus the derivative: a central difference of step h errs by h^2/6 times the third derivative (at most 2)
     * and by rounding 1e-16/h. */
    for (double x = -3.0; x < 12.0; x += 0.37) {
        double h = 1e-4, rise = (mfpg_normal_mills(x - h) - mfpg_normal_mills(x + h)) / (2 * h);
        check_near(rise, mfpg_normal_mills_slope(x), 1e-6, 1e-10, "difference quotient");
    }
}

/* source: mpmath 1.4.1, root of log Phi(x) = log p with 60 digits, p the double nearest to what is written. */
static void test_quantiles_meet_known_values_and_invert_phi(void **state) {
    (void)state;
    const struct {
        double p, x;
    } quantiles[] = {{1e-300, -37.047096299361199237}, {1e-20, -9.2623400897984075796},
        {1e-5, -4.2648907939228246102}, {0.01, -2.3263478740408410931}, {0.2, -0.84162123357291416552},
        {0.25, -0.6744897501960817432}, {0.3, -0.52440051270804081597},
        {0.49999, -0.000025066282748960008527}, {0.5000001, 2.5066282733116483012e-7},
        {0.7, 0.52440051270804065631}, {0.975, 1.9599639845400538556}, {0.9990234375, 3.0972690781987844624}};
    for (size_t i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++)
        check_near(mfpg_normal_quantile(quantiles[i].p), quantiles[i].x, UNITS(6), 0, "quantile");
    for (double x = -37.0; x <= 8.0; x += 0.173) {
        /* p carries 10 units, which weigh phi(x)/p or less in x; above 1/2 they are those of a number near 1. */
        double p = mfpg_normal_cdf(x), weight = p / mfpg_normal_density(x);
        check_near(mfpg_normal_quantile(p), x, UNITS(6), UNITS(10) * weight, "quantile of Phi");
    }
}

static void test_edges_are_what_the_limits_say(void **state) {
    (void)state;
    assert_true(mfpg_normal_quantile(0.0) == -HUGE_VAL && mfpg_normal_quantile(1.0) == HUGE_VAL);
    assert_true(mfpg_normal_quantile(0.5) == 0.0);
    assert_true(isnan(mfpg_normal_quantile(-0.1)) && isnan(mfpg_normal_quantile(1.1)));
    assert_true(isnan(mfpg_normal_quantile(NAN)) && isnan(mfpg_normal_log_cdf(NAN)));
    assert_true(isnan(mfpg_normal_cdf(NAN)) && isnan(mfpg_normal_density(NAN)));
    assert_true(isnan(mfpg_normal_mills(NAN)) && isnan(mfpg_normal_mills_slope(NAN)));
    assert_true(mfpg_normal_cdf(-HUGE_VAL) == 0.0 && mfpg_normal_cdf(HUGE_VAL) == 1.0);
    assert_true(mfpg_normal_log_cdf(-HUGE_VAL) == -HUGE_VAL && mfpg_normal_log_cdf(HUGE_VAL) == 0.0);
    assert_true(mfpg_normal_mills(-HUGE_VAL) == HUGE_VAL && mfpg_normal_mills(HUGE_VAL) == 0.0);
    assert_true(mfpg_normal_density(HUGE_VAL) == 0.0 && mfpg_normal_density(-50.0) == 0.0);
}

/* Mills' inequalities x/(1+x^2) < Mills(x) < 1/x, and their sharpening 2/(x + sqrt(x^2+4)) < Mills(x) (Birnbaum). */
static void test_mills_ratio_keeps_its_inequalities(void **state) {
    (void)state;
    for (double x = 0.01; x < 1e6; x *= 1.31) {
        double ratio = mfpg_normal_mills(x), slack = 1.0 + MFPG_NORMAL_ERROR;
        assert_true(ratio <= slack / x);
        assert_true(ratio * slack >= x / (1.0 + x * x));
        assert_true(ratio * slack >= 2.0 / (x + sqrt(x * x + 4.0)));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_values_are_met_within_the_stated_error),
        cmocka_unit_test(test_mills_slope_meets_known_values),
        cmocka_unit_test(test_quantiles_meet_known_values_and_invert_phi),
        cmocka_unit_test(test_edges_are_what_the_limits_say),
        cmocka_unit_test(test_mills_ratio_keeps_its_inequalities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
