-- Intervals of samples whose size depends on their values: trials that end when a precision is reached. The ranks are
-- those of the program (ciphermark_core.statistics), and cover the median at every moment at which one may stop.

create function sequential_rank(n bigint) returns integer
language sql immutable parallel safe
return nullif((array[0, 1, 2, 3, 6, 10, 15, 22, 35, 48, 76, 105, 162, 221, 340, 460, 702, 947, 1438, 1934])[
    1 + width_bucket(
        n,
        array[8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096]::bigint[]
    )
], 0);

comment on function sequential_rank(bigint) is
    'Rank r of the 95 % interval of a median, from the r-th smallest to the r-th largest of n values, that holds whenever '
    'sampling ends; NULL for n < 8';

create function interval_low(sorted double precision[], is_sequential boolean) returns double precision
language sql immutable parallel safe
return case when is_sequential then sorted[sequential_rank(cardinality(sorted))] else interval_low(sorted) end;

create function interval_high(sorted double precision[], is_sequential boolean) returns double precision
language sql immutable parallel safe
return case
    when is_sequential then sorted[cardinality(sorted) + 1 - sequential_rank(cardinality(sorted))]
    else interval_high(sorted)
end;

comment on function interval_low(double precision[], boolean) is
    'Lower bound of the 95 % interval of the median; is_sequential where the number of values depends on them';
comment on function interval_high(double precision[], boolean) is
    'Upper bound of the 95 % interval of the median; is_sequential where the number of values depends on them';
