-- The schema that the migrations produce, to be read in one piece; tests/integration/test_db_schema.py keeps it true.

create table schema_migration (
    version integer primary key,
    name text not null,
    checksum text not null,
    applied_at timestamptz not null default now()
);

-- Tables. Units are in column names; absent is NULL, never 0. Rows that describe something
-- (host, build, parameter set, case) are named by a hash of their content, so that recording them twice
-- is recording them once. Needs PostgreSQL 15.

create table host (
    id text primary key,
    fingerprint text not null,
    hostname text not null,
    cpu_model text not null,
    cpu_flags text[] not null,
    caches_bytes jsonb not null,
    cores integer not null,
    memory_bytes bigint not null,
    operating_system text not null,
    kernel text not null,
    governor text,
    turbo boolean,
    smt boolean,
    container text,
    clock_source text,
    clock_resolution_ns bigint not null
);

create table build (
    id text primary key,
    library text not null,
    variant text not null,
    version text not null,
    hexl boolean not null,
    is_debug boolean not null,
    is_reference boolean not null,
    facts jsonb not null
);

create table parameter_set (
    id text primary key,
    scheme text not null check (scheme in ('bfv', 'bgv', 'ckks')),
    ring_dimension integer not null,
    modulus_bits integer[] not null,
    moduli numeric[] not null,
    special_moduli numeric[] not null,
    log_q double precision not null,
    log_qp double precision not null,
    plain_modulus numeric,
    scale double precision,
    slots integer not null,
    security_2018 integer not null,
    security_2024 integer not null
);

create table run (
    id text primary key,
    suite text not null,
    suite_text text not null,
    seed numeric not null,
    started_at timestamptz not null,
    software_version text not null,
    host_id text not null references host,
    host_clock_noise double precision not null,
    host_load_1min double precision not null,
    host_warnings text[] not null
);

-- Parameters as requested; modulus_bits NULL asked for the library's default chain.
create table case_ (
    key text primary key,
    comparison_key text not null,
    variant text not null,
    experiment text not null,
    operation text not null,
    scheme text not null check (scheme in ('bfv', 'bgv', 'ckks')),
    ring_dimension integer not null,
    modulus_bits integer[],
    plain_modulus numeric,
    scale_bits integer,
    security_bits integer not null,
    slots integer not null,
    size bigint not null,
    data_pattern text not null,
    threads integer not null,
    cap integer
);

create index case_comparison_key on case_ (comparison_key);

create table trial (
    id text primary key,
    run_id text not null references run,
    case_key text not null references case_,
    build_id text references build,
    parameter_set_id text references parameter_set,
    process integer not null,
    seed numeric not null,
    budget jsonb not null,
    status text not null check (status in (
        'ok', 'wrong', 'unsupported', 'exhausted', 'crashed', 'out_of_memory', 'timed_out', 'cancelled'
    )),
    error text,
    max_abs_error double precision,
    wrong_slots bigint,
    tolerance double precision,
    precision_bits double precision,
    started_at timestamptz not null,
    duration_s double precision not null,
    facts jsonb not null
);

create index trial_run_case on trial (run_id, case_key);
create index trial_case on trial (case_key);

create table sample (
    trial_id text not null,
    phase text not null,
    metric text not null,
    unit text not null,
    value double precision not null,
    loops bigint not null,
    ordinal integer not null,
    repetitions integer,
    is_warmup boolean not null
);

create index sample_trial on sample (trial_id);

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

-- Views that compare times pair by pair: samples that two variants took in the same turn, which is the same process
-- number and ordinal. Both sides are read in one pass and paired by grouping: no plan can make that quadratic.

create view speedup as
select
    g.run_id,
    g.library,
    off_case.variant as variant_off,
    on_case.variant as variant_on,
    off_case.scheme,
    coalesce(p.ring_dimension, off_case.ring_dimension) as ring_dimension,
    p.modulus_bits,
    p.log_qp,
    p.security_2018,
    off_case.experiment,
    off_case.operation,
    pairs.phase,
    off_case.size,
    off_case.data_pattern,
    off_case.threads,
    pairs.repetitions,
    cardinality(pairs.sorted) as n,
    median_of(pairs.sorted) as ratio,
    interval_low(pairs.sorted) as ci_low,
    interval_high(pairs.sorted) as ci_high,
    verdict(interval_low(pairs.sorted), interval_high(pairs.sorted)) as verdict,
    off_case.comparison_key
from (
    select
        off_trial.run_id,
        off_build.library,
        off_trial.parameter_set_id,
        off_trial.case_key as off_case_key,
        on_trial.case_key as on_case_key,
        array_agg(off_trial.id) as off_trial_ids,
        array_agg(on_trial.id) as on_trial_ids
    from trial as off_trial
    join build as off_build on off_build.id = off_trial.build_id and not off_build.hexl
    join case_ as c on c.key = off_trial.case_key
    join case_ as d on d.comparison_key = c.comparison_key
    join trial as on_trial
        on on_trial.run_id = off_trial.run_id
        and on_trial.case_key = d.key
        and on_trial.process = off_trial.process
        and on_trial.status = 'ok'
    join build as on_build
        on on_build.id = on_trial.build_id and on_build.hexl and on_build.library = off_build.library
    where off_trial.status = 'ok'
    group by
        off_trial.run_id, off_build.library, off_trial.parameter_set_id, off_trial.case_key, off_build.id,
        on_trial.case_key, on_build.id
) as g
join case_ as off_case on off_case.key = g.off_case_key
join case_ as on_case on on_case.key = g.on_case_key
left join parameter_set as p on p.id = g.parameter_set_id
cross join lateral (
    select phase, repetitions, array_agg(off_s / on_s order by off_s / on_s) as sorted
    from (
        select
            s.phase,
            s.repetitions,
            max(s.value) filter (where s.trial_id = any (g.off_trial_ids)) as off_s,
            max(s.value) filter (where s.trial_id = any (g.on_trial_ids)) as on_s
        from sample as s
        join trial as t on t.id = s.trial_id
        where
            s.trial_id = any (g.off_trial_ids || g.on_trial_ids) and s.metric = 'time' and not s.is_warmup
        group by t.process, s.phase, s.repetitions, s.ordinal
    ) as pair
    where off_s is not null and on_s > 0
    group by phase, repetitions
) as pairs;

create view ratio as
select
    ranked.run_id,
    ranked.variant,
    ranked.fastest_variant,
    ranked.scheme,
    ranked.ring_dimension,
    ranked.log_qp,
    ranked.security_2018,
    ranked.security_2018 = ranked.fastest_security_2018 as is_equal_security,
    ranked.ring_dimension = ranked.fastest_ring_dimension
    and abs(ranked.log_qp - ranked.fastest_log_qp) <= 1 as is_equal_parameters,
    ranked.experiment,
    ranked.operation,
    ranked.phase,
    ranked.size,
    ranked.data_pattern,
    ranked.threads,
    ranked.repetitions,
    ranked.rank,
    ranked.median_s,
    cardinality(pairs.sorted) as n,
    median_of(pairs.sorted) as ratio,
    interval_low(pairs.sorted) as ci_low,
    interval_high(pairs.sorted) as ci_high,
    verdict(1 / interval_high(pairs.sorted), 1 / interval_low(pairs.sorted)) as verdict,
    ranked.comparison_key
from (
    select
        timed.*,
        rank() over fastest_first as rank,
        first_value(timed.variant) over fastest_first as fastest_variant,
        first_value(timed.trial_ids) over fastest_first as fastest_trial_ids,
        first_value(timed.security_2018) over fastest_first as fastest_security_2018,
        first_value(timed.ring_dimension) over fastest_first as fastest_ring_dimension,
        first_value(timed.log_qp) over fastest_first as fastest_log_qp
    from (
        select
            g.run_id,
            c.comparison_key,
            c.variant,
            c.scheme,
            coalesce(p.ring_dimension, c.ring_dimension) as ring_dimension,
            p.log_qp,
            p.security_2018,
            c.experiment,
            c.operation,
            s.phase,
            c.size,
            c.data_pattern,
            c.threads,
            s.repetitions,
            s.median_s,
            g.trial_ids
        from trial_group as g
        join case_ as c on c.key = g.case_key
        left join build as b on b.id = g.build_id
        left join parameter_set as p on p.id = g.parameter_set_id
        cross join lateral (
            select phase, repetitions, median_of(array_agg(value order by value)) as median_s
            from sample
            where trial_id = any (g.trial_ids) and metric = 'time' and not is_warmup
            group by phase, repetitions
        ) as s
        where g.status = 'ok' and b.is_reference is not true
    ) as timed
    window fastest_first as (
        partition by timed.run_id, timed.comparison_key, timed.phase, timed.repetitions
        order by timed.median_s, timed.variant
    )
) as ranked
cross join lateral (
    select array_agg(own_s / fastest_s order by own_s / fastest_s) as sorted
    from (
        select
            max(s.value) filter (where s.trial_id = any (ranked.trial_ids)) as own_s,
            max(s.value) filter (where s.trial_id = any (ranked.fastest_trial_ids)) as fastest_s
        from sample as s
        join trial as t on t.id = s.trial_id
        where
            s.trial_id = any (ranked.trial_ids || ranked.fastest_trial_ids)
            and s.phase = ranked.phase
            and s.repetitions is not distinct from ranked.repetitions
            and s.metric = 'time'
            and not s.is_warmup
        group by t.process, s.ordinal
    ) as pair
    where own_s is not null and fastest_s > 0
) as pairs;

-- Views of what is not time: depth, noise and security.

create view depth as
select
    g.run_id,
    c.variant,
    b.library,
    c.scheme,
    coalesce(p.ring_dimension, c.ring_dimension) as ring_dimension,
    coalesce(p.modulus_bits, c.modulus_bits) as modulus_bits,
    p.log_q,
    p.log_qp,
    p.security_2018,
    p.security_2024,
    c.operation,
    c.size,
    c.data_pattern,
    c.threads,
    c.cap,
    s.depth,
    s.is_capped,
    g.status,
    g.error,
    c.comparison_key,
    c.key as case_key
from trial_group as g
join case_ as c on c.key = g.case_key
left join build as b on b.id = g.build_id
left join parameter_set as p on p.id = g.parameter_set_id
cross join lateral (
    select
        min(value) filter (where metric = 'depth')::integer as depth,
        bool_and(value <> 0) filter (where metric = 'is_capped') as is_capped
    from sample
    where trial_id = any (g.trial_ids) and g.is_counted and not is_warmup
) as s
where c.experiment = 'depth';

create view noise as
select
    g.run_id,
    c.variant,
    b.library,
    c.scheme,
    coalesce(p.ring_dimension, c.ring_dimension) as ring_dimension,
    coalesce(p.modulus_bits, c.modulus_bits) as modulus_bits,
    p.log_q,
    p.log_qp,
    p.security_2018,
    p.security_2024,
    c.experiment,
    c.operation,
    c.size,
    c.data_pattern,
    c.threads,
    s.phase,
    s.repetitions,
    s.noise_budget_bits,
    s.precision_bits,
    g.status,
    c.comparison_key,
    c.key as case_key
from trial_group as g
join case_ as c on c.key = g.case_key
left join build as b on b.id = g.build_id
left join parameter_set as p on p.id = g.parameter_set_id
cross join lateral (
    select
        phase,
        repetitions,
        median_of(array_agg(value order by value) filter (where metric = 'noise_budget')) as noise_budget_bits,
        median_of(array_agg(value order by value) filter (where metric = 'precision')) as precision_bits
    from sample
    where
        trial_id = any (g.trial_ids)
        and metric in ('noise_budget', 'precision')
        and g.is_counted
        and not is_warmup
    group by phase, repetitions
) as s;

create view security as
select
    p.id as parameter_set_id,
    p.scheme,
    p.ring_dimension,
    p.modulus_bits,
    p.log_q,
    p.log_qp,
    p.plain_modulus,
    p.scale,
    p.slots,
    p.security_2018,
    p.security_2024,
    u.variants
from parameter_set as p
left join (
    select t.parameter_set_id, array_agg(distinct c.variant) as variants
    from trial as t
    join case_ as c on c.key = t.case_key
    group by t.parameter_set_id
) as u on u.parameter_set_id = p.id;

-- What every view and column means, for `\d+` in psql.

comment on view results is
    'Medians with intervals: a row per run, case, status, phase, metric and repetitions; samples of all'
    ' processes of a case are pooled. Only trials that ended ok count, in depth and noise also '
    'exhausted ones; the others have one row without metric, so that failures show';
comment on column results.run_id is 'Run: one execution of a suite on a host';
comment on column results.suite is 'Name of the suite';
comment on column results.started_at is 'When the run started';
comment on column results.host is 'Name of the host that executed the run';
comment on column results.host_fingerprint is 'Identity of the host''s hardware and software';
comment on column results.variant is
    'Build that is compared, such as seal-hexl; seal@again is a second entry of the same build';
comment on column results.library is 'Library of the variant; NULL where no worker got as far as loading it';
comment on column results.library_version is 'Version that the library reports; NULL like library';
comment on column results.hexl is 'Whether the build uses Intel HEXL; NULL like library';
comment on column results.is_debug is
    'Whether this is a debug build, whose times mean nothing; NULL like library';
comment on column results.scheme is 'bfv, bgv or ckks';
comment on column results.ring_dimension is
    'N: as used by the library, or as requested where the trial did not get that far';
comment on column results.modulus_bits is
    'Sizes of the primes in bits, special primes last: as used, or as requested; NULL asks for the '
    'default chain';
comment on column results.log_q is
    'log2 of the ciphertext modulus Q; NULL where the trial resolved no parameters';
comment on column results.log_qp is
    'log2 of Q times the special primes: what security depends on; NULL like log_q';
comment on column results.security_2018 is
    'Classical security in bits (0, 128, 192, 256) by the 2018 standard; NULL like log_q';
comment on column results.security_2024 is
    'Classical security in bits (0, 128, 192, 256) by the 2024 guidelines; NULL like log_q';
comment on column results.experiment is
    'What the suite varies: arithmetic, rotation, depth, noise, serialization, ...';
comment on column results.operation is 'Homomorphic operation or workload';
comment on column results.phase is
    'keys, encrypt, operation or decrypt, or the object that a size belongs to';
comment on column results.size is 'Elements of the vector';
comment on column results.ciphertexts is 'Ciphertexts that the vector spans: size / slots, rounded up';
comment on column results.data_pattern is 'same: one value in all slots; random: a value for each';
comment on column results.threads is 'Threads that the library may use';
comment on column results.metric is
    'time, peak_memory, size, noise_budget, precision, depth, is_capped, ...; NULL where nothing counts'
    ' (see status)';
comment on column results.unit is 'Unit of the metric: s, bytes, bits, operations, flag';
comment on column results.repetitions is
    'Operations applied before this value was taken (depth and noise); otherwise NULL';
comment on column results.n is 'Number of samples behind the figures, warm-ups excluded';
comment on column results.median is 'Median of the samples';
comment on column results.ci_low is
    'Lower bound of the 95 % order-statistic interval of the median; NULL for fewer than 6 samples';
comment on column results.ci_high is
    'Upper bound of the 95 % order-statistic interval of the median; NULL for fewer than 6 samples';
comment on column results.mad is 'Median absolute deviation from the median, unscaled';
comment on column results.min is 'Smallest sample';
comment on column results.max is 'Largest sample';
comment on column results.status is
    'ok, wrong, unsupported, exhausted, crashed, out_of_memory, timed_out or cancelled';
comment on column results.error is
    'What went wrong, one line for each different text; NULL where nothing did';
comment on column results.comparison_key is 'The same for all cases that differ in the variant only';
comment on column results.case_key is 'The case: the same in all runs and on all hosts';

comment on view speedup is
    'What HEXL brings: time without HEXL / time with it, sample by sample, for two builds of one '
    'library in one run';
comment on column speedup.run_id is 'Run: one execution of a suite on a host';
comment on column speedup.library is 'Library of both variants';
comment on column speedup.variant_off is 'Variant without HEXL';
comment on column speedup.variant_on is 'Variant with HEXL';
comment on column speedup.scheme is 'bfv, bgv or ckks';
comment on column speedup.ring_dimension is
    'N: as used by the library, or as requested where the trial did not get that far';
comment on column speedup.modulus_bits is
    'Sizes of the primes in bits, special primes last: as used, or as requested; NULL asks for the '
    'default chain';
comment on column speedup.log_qp is
    'log2 of Q times the special primes: what security depends on; NULL like log_q';
comment on column speedup.security_2018 is
    'Classical security in bits (0, 128, 192, 256) by the 2018 standard; NULL like log_q';
comment on column speedup.experiment is
    'What the suite varies: arithmetic, rotation, depth, noise, serialization, ...';
comment on column speedup.operation is 'Homomorphic operation or workload';
comment on column speedup.phase is
    'keys, encrypt, operation or decrypt, or the object that a size belongs to';
comment on column speedup.size is 'Elements of the vector';
comment on column speedup.data_pattern is 'same: one value in all slots; random: a value for each';
comment on column speedup.threads is 'Threads that the library may use';
comment on column speedup.repetitions is
    'Operations applied before this value was taken (depth and noise); otherwise NULL';
comment on column speedup.n is 'Number of pairs: samples of the same process number and ordinal';
comment on column speedup.ratio is 'Median of time without / time with HEXL: above 1, HEXL is faster';
comment on column speedup.ci_low is 'Lower bound of the ratio''s 95 % interval; NULL for fewer than 6 pairs';
comment on column speedup.ci_high is 'Upper bound of the ratio''s 95 % interval; NULL for fewer than 6 pairs';
comment on column speedup.verdict is
    'Of the variant with HEXL: faster, slower, no difference (the interval widened by noise_floor() '
    'contains 1) or too few samples';
comment on column speedup.comparison_key is 'The same for all cases that differ in the variant only';

comment on view ratio is
    'Every variant against the fastest one: time / time of the fastest, sample by sample, per run, '
    'comparison and phase; pseudo-libraries are left out';
comment on column ratio.run_id is 'Run: one execution of a suite on a host';
comment on column ratio.variant is
    'Build that is compared, such as seal-hexl; seal@again is a second entry of the same build';
comment on column ratio.fastest_variant is 'Variant with the lowest median time; its own row has ratio 1';
comment on column ratio.scheme is 'bfv, bgv or ckks';
comment on column ratio.ring_dimension is
    'N: as used by the library, or as requested where the trial did not get that far';
comment on column ratio.log_qp is
    'log2 of Q times the special primes: what security depends on; NULL like log_q';
comment on column ratio.security_2018 is
    'Classical security in bits (0, 128, 192, 256) by the 2018 standard; NULL like log_q';
comment on column ratio.is_equal_security is
    'Whether this variant and the fastest have the same security_2018; where false the ratio compares '
    'unlike things';
comment on column ratio.is_equal_parameters is
    'Whether both have the same ring dimension and log_qp within 1 bit';
comment on column ratio.experiment is
    'What the suite varies: arithmetic, rotation, depth, noise, serialization, ...';
comment on column ratio.operation is 'Homomorphic operation or workload';
comment on column ratio.phase is 'keys, encrypt, operation or decrypt, or the object that a size belongs to';
comment on column ratio.size is 'Elements of the vector';
comment on column ratio.data_pattern is 'same: one value in all slots; random: a value for each';
comment on column ratio.threads is 'Threads that the library may use';
comment on column ratio.repetitions is
    'Operations applied before this value was taken (depth and noise); otherwise NULL';
comment on column ratio.rank is 'Place by median time, 1 for the fastest';
comment on column ratio.median_s is 'Median time of this variant in seconds';
comment on column ratio.n is 'Number of pairs: samples of the same process number and ordinal';
comment on column ratio.ratio is
    'Median of time of this variant / time of the fastest; NULL where no samples pair up';
comment on column ratio.ci_low is 'Lower bound of the ratio''s 95 % interval; NULL for fewer than 6 pairs';
comment on column ratio.ci_high is 'Upper bound of the ratio''s 95 % interval; NULL for fewer than 6 pairs';
comment on column ratio.verdict is
    'Of this variant against the fastest: slower, no difference (the interval widened by noise_floor() '
    'contains 1), too few samples; faster where pairs contradict the medians';
comment on column ratio.comparison_key is 'The same for all cases that differ in the variant only';

comment on view depth is
    'How many operations in a row a parameter set stands: a row per run, case and status of the depth '
    'experiment';
comment on column depth.run_id is 'Run: one execution of a suite on a host';
comment on column depth.variant is
    'Build that is compared, such as seal-hexl; seal@again is a second entry of the same build';
comment on column depth.library is 'Library of the variant; NULL where no worker got as far as loading it';
comment on column depth.scheme is 'bfv, bgv or ckks';
comment on column depth.ring_dimension is
    'N: as used by the library, or as requested where the trial did not get that far';
comment on column depth.modulus_bits is
    'Sizes of the primes in bits, special primes last: as used, or as requested; NULL asks for the '
    'default chain';
comment on column depth.log_q is
    'log2 of the ciphertext modulus Q; NULL where the trial resolved no parameters';
comment on column depth.log_qp is
    'log2 of Q times the special primes: what security depends on; NULL like log_q';
comment on column depth.security_2018 is
    'Classical security in bits (0, 128, 192, 256) by the 2018 standard; NULL like log_q';
comment on column depth.security_2024 is
    'Classical security in bits (0, 128, 192, 256) by the 2024 guidelines; NULL like log_q';
comment on column depth.operation is 'Homomorphic operation or workload';
comment on column depth.size is 'Elements of the vector';
comment on column depth.data_pattern is 'same: one value in all slots; random: a value for each';
comment on column depth.threads is 'Threads that the library may use';
comment on column depth.cap is 'Largest depth that was tried; NULL where there was no limit';
comment on column depth.depth is
    'Most operations after which the result was still right, least of all processes; NULL where nothing'
    ' counts (see status)';
comment on column depth.is_capped is
    'Whether the search ended at the cap, so that the true depth may be larger';
comment on column depth.status is
    'ok, wrong, unsupported, exhausted, crashed, out_of_memory, timed_out or cancelled';
comment on column depth.error is 'What went wrong, one line for each different text; NULL where nothing did';
comment on column depth.comparison_key is 'The same for all cases that differ in the variant only';
comment on column depth.case_key is 'The case: the same in all runs and on all hosts';

comment on view noise is
    'Noise budget or precision left: a row per run, case, status, phase and repetitions';
comment on column noise.run_id is 'Run: one execution of a suite on a host';
comment on column noise.variant is
    'Build that is compared, such as seal-hexl; seal@again is a second entry of the same build';
comment on column noise.library is 'Library of the variant; NULL where no worker got as far as loading it';
comment on column noise.scheme is 'bfv, bgv or ckks';
comment on column noise.ring_dimension is
    'N: as used by the library, or as requested where the trial did not get that far';
comment on column noise.modulus_bits is
    'Sizes of the primes in bits, special primes last: as used, or as requested; NULL asks for the '
    'default chain';
comment on column noise.log_q is
    'log2 of the ciphertext modulus Q; NULL where the trial resolved no parameters';
comment on column noise.log_qp is
    'log2 of Q times the special primes: what security depends on; NULL like log_q';
comment on column noise.security_2018 is
    'Classical security in bits (0, 128, 192, 256) by the 2018 standard; NULL like log_q';
comment on column noise.security_2024 is
    'Classical security in bits (0, 128, 192, 256) by the 2024 guidelines; NULL like log_q';
comment on column noise.experiment is
    'What the suite varies: arithmetic, rotation, depth, noise, serialization, ...';
comment on column noise.operation is 'Homomorphic operation or workload';
comment on column noise.size is 'Elements of the vector';
comment on column noise.data_pattern is 'same: one value in all slots; random: a value for each';
comment on column noise.threads is 'Threads that the library may use';
comment on column noise.phase is 'keys, encrypt, operation or decrypt, or the object that a size belongs to';
comment on column noise.repetitions is 'Operations applied so far; NULL where the experiment does not repeat';
comment on column noise.noise_budget_bits is
    'Bits of noise budget left (bfv, bgv), median of the processes; otherwise NULL';
comment on column noise.precision_bits is
    'Right bits of the decrypted values (ckks), median of the processes; otherwise NULL';
comment on column noise.status is
    'ok, wrong, unsupported, exhausted, crashed, out_of_memory, timed_out or cancelled';
comment on column noise.comparison_key is 'The same for all cases that differ in the variant only';
comment on column noise.case_key is 'The case: the same in all runs and on all hosts';

comment on view security is
    'Every parameter set that a library used, with its security by both tables';
comment on column security.parameter_set_id is 'Identity of the parameter set';
comment on column security.scheme is 'bfv, bgv or ckks';
comment on column security.ring_dimension is 'N';
comment on column security.modulus_bits is 'Sizes of the primes in bits, special primes last';
comment on column security.log_q is 'log2 of the ciphertext modulus Q';
comment on column security.log_qp is 'log2 of Q times the special primes: what security depends on';
comment on column security.plain_modulus is 'Plaintext modulus t (bfv, bgv); otherwise NULL';
comment on column security.scale is 'Default encoding scale (ckks); otherwise NULL';
comment on column security.slots is 'Values in one ciphertext';
comment on column security.security_2018 is
    'Classical security in bits (0, 128, 192, 256) by the 2018 standard';
comment on column security.security_2024 is
    'Classical security in bits (0, 128, 192, 256) by the 2024 guidelines';
comment on column security.variants is 'Variants that used it, in alphabetical order';
