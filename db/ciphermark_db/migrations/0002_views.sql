-- Views: the public interface. The statistics are those of ciphermark_core.statistics, to the last bit.

-- NOISE_FLOOR of ciphermark_core.statistics.
create function noise_floor() returns double precision
language sql immutable parallel safe
return 1.05::double precision;

comment on function noise_floor() is
    'Two processes of one binary differ by up to this factor: no verdict below it';

-- The largest r with P(Binomial(n, 1/2) < r) <= 2.5 %. Terms are summed by way of their logarithms, since 2^-n
-- is no float from n = 1075 on.
create function interval_rank(n bigint) returns integer
language plpgsql immutable strict parallel safe
as $$
declare
    rank integer := 0;
    log_term double precision := -n * ln(2::double precision);
    tail double precision := 0;
begin
    loop
        if log_term > -700 then
            tail := tail + exp(log_term);
        end if;
        exit when rank >= n or tail > (1 - 0.95::double precision) / 2;
        log_term := log_term + ln((n - rank)::double precision / (rank + 1));
        rank := rank + 1;
    end loop;
    return nullif(rank, 0);
end
$$;

comment on function interval_rank(bigint) is
    'The rank r such that [x_(r), x_(n+1-r)] covers the median with at least 95 %; NULL where n is too small';

create function median_of(sorted double precision[]) returns double precision
language sql immutable parallel safe
return (sorted[(cardinality(sorted) + 1) / 2] + sorted[cardinality(sorted) / 2 + 1]) / 2;

comment on function median_of(double precision[]) is 'Median of an array in ascending order';

create function interval_low(sorted double precision[]) returns double precision
language sql immutable parallel safe
return sorted[interval_rank(cardinality(sorted))];

create function interval_high(sorted double precision[]) returns double precision
language sql immutable parallel safe
return sorted[cardinality(sorted) + 1 - interval_rank(cardinality(sorted))];

comment on function interval_low(double precision[]) is
    'Lower bound of the 95 % order-statistic interval of the median; NULL where n is too small';
comment on function interval_high(double precision[]) is
    'Upper bound of the 95 % order-statistic interval of the median; NULL where n is too small';

create function mad_of(sorted double precision[]) returns double precision
language sql immutable parallel safe
return (
    select median_of(array_agg(abs(x - median_of(sorted)) order by abs(x - median_of(sorted))))
    from unnest(sorted) as x
);

comment on function mad_of(double precision[]) is 'Median absolute deviation from the median, unscaled';

create function verdict(low double precision, high double precision) returns text
language sql immutable parallel safe
return case
    when low is null or high is null then 'too few samples'
    when low > noise_floor() then 'faster'
    when high < 1 / noise_floor() then 'slower'
    else 'no difference'
end;

comment on function verdict(double precision, double precision) is
    'What the interval of a ratio of times a/b says about b';

-- Trials that are pooled into one figure: the same case, build and parameters in one run, with the same status.
create view trial_group as
select
    t.run_id,
    t.case_key,
    t.status,
    t.build_id,
    t.parameter_set_id,
    t.status = 'ok' or (t.status = 'exhausted' and c.experiment in ('depth', 'noise')) as is_counted,
    array_agg(t.id) as trial_ids,
    string_agg(distinct t.error, E'\n') filter (where t.error is not null) as error
from trial as t
join case_ as c on c.key = t.case_key
group by t.run_id, t.case_key, t.status, t.build_id, t.parameter_set_id, c.experiment;

comment on view trial_group is
    'Internal: trials pooled into one figure; is_counted tells whether their samples may be shown';

create view results as
select
    g.run_id,
    r.suite,
    r.started_at,
    h.hostname as host,
    h.fingerprint as host_fingerprint,
    c.variant,
    b.library,
    b.version as library_version,
    b.hexl,
    b.is_debug,
    c.scheme,
    coalesce(p.ring_dimension, c.ring_dimension) as ring_dimension,
    coalesce(p.modulus_bits, c.modulus_bits) as modulus_bits,
    p.log_q,
    p.log_qp,
    p.security_2018,
    p.security_2024,
    c.experiment,
    c.operation,
    s.phase,
    c.size,
    (c.size + coalesce(p.slots, c.slots) - 1) / coalesce(p.slots, c.slots) as ciphertexts,
    c.data_pattern,
    c.threads,
    s.metric,
    s.unit,
    s.repetitions,
    cardinality(s.sorted) as n,
    median_of(s.sorted) as median,
    interval_low(s.sorted) as ci_low,
    interval_high(s.sorted) as ci_high,
    mad_of(s.sorted) as mad,
    s.sorted[1] as min,
    s.sorted[cardinality(s.sorted)] as max,
    g.status,
    g.error,
    c.comparison_key,
    c.key as case_key
from trial_group as g
join run as r on r.id = g.run_id
join host as h on h.id = r.host_id
join case_ as c on c.key = g.case_key
left join build as b on b.id = g.build_id
left join parameter_set as p on p.id = g.parameter_set_id
left join lateral (
    select phase, metric, unit, repetitions, array_agg(value order by value) as sorted
    from sample
    where trial_id = any (g.trial_ids) and g.is_counted and not is_warmup
    group by phase, metric, unit, repetitions
) as s on true;
