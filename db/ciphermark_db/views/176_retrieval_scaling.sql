-- Protocols start with a fixed cost: the constant of the straight line is independent of the database. A line passes
-- through cases that differ only in the database's size. Two cases of one size differ otherwise, and get no line.
create view retrieval_scaling as
select
    run_id,
    variant,
    operation,
    scheme,
    ring_dimension,
    log_qp,
    plain_modulus,
    tuning,
    threads,
    inputs,
    answers,
    answered_size,
    count(*) as points,
    min(database_size) as smallest_database,
    max(database_size) as largest_database,
    regr_slope(ln(answer_s), ln(database_size)) as exponent,
    regr_intercept(answer_s, database_size) as constant_s,
    1 / nullif(greatest(regr_slope(answer_s, database_size), 0), 0) as marginal_throughput,
    regr_r2(answer_s, database_size) as fit
from retrievals
where answer_s > 0 and not 'answer_s' = any (disturbed_times)
group by
    run_id, variant, operation, scheme, ring_dimension, log_qp, plain_modulus, tuning, threads, inputs, answers,
    answered_size
having count(distinct database_size) >= 3 and count(*) = count(distinct database_size);

comment on view retrieval_scaling is
    'Growth of the answer time with the database: a row per run, variant, protocol and element size. Each row rests '
    'on at least three databases, measured by cases that differ in nothing else';
