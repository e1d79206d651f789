-- Two cases that were asked for in the same words but for the data, whatever the words of a case are. They have no pairs of samples: the ratio of their
-- medians has the conservative interval.
select
    found.*,
    random_s / same_s as ratio,
    random_low / same_high as ci_low,
    random_high / same_low as ci_high,
    case verdict(random_low / same_high, random_high / same_low)
        when 'faster' then 'random is slower'
        when 'slower' then 'random is faster'
        else verdict(random_low / same_high, random_high / same_low)
    end as verdict
from (
    select
        r.run_id,
        r.variant,
        r.scheme,
        r.security_2018,
        r.experiment,
        r.operation,
        r.ring_dimension,
        r.modulus_bits,
        r.plain_modulus,
        r.scale,
        r.security_bits,
        r.chain_depth,
        r.ring_dimension_is_minimum,
        r.dimensions,
        r.parameter_set_id,
        r.division,
        r.security_compared,
        r.key_switching,
        r.digits,
        r.special_primes,
        r.scaling,
        r.secret_distribution,
        r.encryption,
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
    where r.metric = 'time' and r.data_pattern in ('same', 'random')
    group by
        r.run_id, r.variant, r.scheme, r.security_2018, r.experiment, r.operation, r.ring_dimension, r.modulus_bits,
        r.plain_modulus, r.scale, r.security_bits, r.chain_depth, r.ring_dimension_is_minimum, r.dimensions, r.size, r.threads,
        r.phase, r.parameter_set_id,
        r.division, r.security_compared, r.key_switching, r.digits, r.special_primes, r.scaling, r.secret_distribution, r.encryption,
        to_jsonb(c) - array['key', 'comparison_key', 'data_pattern']
    having count(distinct r.data_pattern) = 2
) as found
