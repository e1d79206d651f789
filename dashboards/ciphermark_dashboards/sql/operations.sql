-- name: latency
select
    variant,
    scheme,
    ring_dimension,
    log_qp,
    modulus_bits,
    security_2018,
    security_2024,
    experiment,
    operation,
    phase,
    size,
    ciphertexts,
    data_pattern,
    threads,
    n,
    median,
    ci_low,
    ci_high,
    comparison_key
from results
where
    run_id = %(run_id)s
    and metric = 'time'
    and experiment in ('arithmetic', 'rotation')
    and phase = %(phase)s
    and scheme = %(scheme)s
    and security_2018 = %(security)s
    and ring_dimension = any (%(ns)s)
    and operation = any (%(operations)s)
    and variant = any (%(variants)s)
    and size = any (%(sizes)s)
    and data_pattern = %(data)s
    and threads = %(threads)s
order by operation, size, ring_dimension, median, variant;

-- name: latency_by_size
-- At the largest N that has vectors of several sizes.
select *
from (
    select
        found.*,
        dense_rank() over (order by found.ring_dimension desc) as place
    from (
        select
            variant,
            scheme,
            ring_dimension,
            log_qp,
            modulus_bits,
            security_2018,
            security_2024,
            experiment,
            operation,
            phase,
            size,
            ciphertexts,
            data_pattern,
            threads,
            n,
            median,
            ci_low,
            ci_high,
            comparison_key,
            min(size) over of_place < max(size) over of_place as is_varied
        from results
        where
            run_id = %(run_id)s
            and metric = 'time'
            and experiment in ('arithmetic', 'rotation')
            and phase = %(phase)s
            and scheme = %(scheme)s
            and security_2018 = %(security)s
            and ring_dimension = any (%(ns)s)
            and operation = any (%(operations)s)
            and variant = any (%(variants)s)
            and size = any (%(sizes)s)
            and data_pattern = %(data)s
            and threads = %(threads)s
        window of_place as (partition by operation, ring_dimension)
    ) as found
    where found.is_varied
) as ranked
where place = 1
order by operation, size, median, variant;

-- name: by_data
-- Two cases that were asked for in the same words but for the data. They have no pairs of samples: the ratio of their
-- medians has the conservative interval.
select
    found.variant,
    found.scheme,
    found.operation,
    found.ring_dimension,
    found.modulus_bits,
    found.size,
    found.threads,
    found.phase,
    found.same_s,
    found.random_s,
    found.random_s / found.same_s as ratio,
    found.random_low / found.same_high as ci_low,
    found.random_high / found.same_low as ci_high,
    case verdict(found.random_low / found.same_high, found.random_high / found.same_low)
        when 'faster' then 'random is slower'
        when 'slower' then 'random is faster'
        else verdict(found.random_low / found.same_high, found.random_high / found.same_low)
    end as verdict,
    found.comparison_key
from (
    select
        r.variant,
        r.scheme,
        r.operation,
        r.ring_dimension,
        r.modulus_bits,
        r.size,
        r.threads,
        r.phase,
        max(r.median) filter (where r.data_pattern = 'same') as same_s,
        max(r.ci_low) filter (where r.data_pattern = 'same') as same_low,
        max(r.ci_high) filter (where r.data_pattern = 'same') as same_high,
        max(r.median) filter (where r.data_pattern = 'random') as random_s,
        max(r.ci_low) filter (where r.data_pattern = 'random') as random_low,
        max(r.ci_high) filter (where r.data_pattern = 'random') as random_high,
        max(r.comparison_key) filter (where r.data_pattern = 'random') as comparison_key
    from results as r
    join case_ as c on c.key = r.case_key
    where
        r.run_id = %(run_id)s
        and r.metric = 'time'
        and r.experiment in ('arithmetic', 'rotation')
        and r.phase = %(phase)s
        and r.scheme = %(scheme)s
        and r.security_2018 = %(security)s
        and r.ring_dimension = any (%(ns)s)
        and r.operation = any (%(operations)s)
        and r.variant = any (%(variants)s)
        and r.size = any (%(sizes)s)
        and r.threads = %(threads)s
    group by
        r.variant, r.scheme, r.experiment, r.operation, r.ring_dimension, r.modulus_bits, r.size, r.threads, r.phase,
        c.ring_dimension, c.modulus_bits, c.plain_modulus, c.scale_bits, c.security_bits, c.depth, c.is_least
    having count(distinct r.data_pattern) = 2
) as found
order by operation, ring_dimension, size, variant, modulus_bits;
