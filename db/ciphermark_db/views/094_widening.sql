-- Operations are not all slowed alike: where the anchor tells a slow-down of a, an operation takes a^e
-- times as long. Exponents e differ from 1 by 0.2 (their standard deviation: docs/decisions/0043), so what a correction
-- by a leaves is a^(1 - e), of which two deviations are a^0.4. Times of two libraries have errors of their own each.
create function widening(slow_down double precision, fastest_slow_down double precision) returns double precision
language sql immutable parallel safe
return exp(0.4 * sqrt(ln(coalesce(slow_down, 1)) ^ 2 + ln(coalesce(fastest_slow_down, 1)) ^ 2));

comment on function widening(double precision, double precision) is
    'Internal: by what factor the interval of a figure is wider for the error of its correction by these slow-downs';
