-- Variants are ranked and compared within one security level (2018 table), across levels only where asked to;
-- published figures stand beside ours.

create or replace view results as
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
    coalesce(s.repetitions, c.repetitions) as repetitions,
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
    c.key as case_key,
    c.depth,
    c.is_least,
    c.data_set
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

comment on column results.repetitions is
    'Operations applied before this value was taken (depth, noise), or in a row (chain); otherwise NULL';
comment on column results.depth is
    'Multiplications one after another that the chain was made for; NULL where the suite gave the chain or left it '
    'to the library';
comment on column results.is_least is
    'Whether the ring dimension is the smallest that is secure for the chain, rather than given by the suite';
comment on column results.data_set is 'Name of the real data; NULL where vectors are made up';

-- speedup: both builds have one security level. They have one source, so that more is hardly ever to be said.
create or replace view speedup as
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
    off_case.comparison_key,
    p.security_2024
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
    left join parameter_set as off_set on off_set.id = off_trial.parameter_set_id
    left join parameter_set as on_set on on_set.id = on_trial.parameter_set_id
    where off_trial.status = 'ok' and off_set.security_2018 is not distinct from on_set.security_2018
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

comment on view speedup is
    'What HEXL brings: time without HEXL / time with it, sample by sample, for two builds of one '
    'library at one security level (2018) in one run';
comment on column speedup.security_2024 is
    'Classical security in bits (0, 128, 192, 256) by the 2024 guidelines; NULL like log_q';

-- The views ratio and ratio_any_security. Trials that took turns overlap in time: their samples pair up. Those of a
-- run that was resumed in between, or too large to be alive together, do not: their medians are divided.
create function ratios(any_security boolean) returns table (
    run_id text,
    variant text,
    fastest_variant text,
    scheme text,
    ring_dimension integer,
    log_qp double precision,
    security_2018 integer,
    is_equal_security boolean,
    is_equal_parameters boolean,
    experiment text,
    operation text,
    phase text,
    size bigint,
    data_pattern text,
    threads integer,
    repetitions integer,
    rank bigint,
    median_s double precision,
    n integer,
    ratio double precision,
    ci_low double precision,
    ci_high double precision,
    verdict text,
    comparison_key text,
    is_paired boolean,
    security_2024 integer,
    fastest_ring_dimension integer,
    fastest_log_qp double precision,
    fastest_security_2018 integer,
    depth integer,
    is_least boolean,
    data_set text,
    case_key text
)
language sql stable parallel safe
begin atomic
select
    ranked.run_id,
    ranked.variant,
    ranked.fastest_variant,
    ranked.scheme,
    ranked.ring_dimension,
    ranked.log_qp,
    ranked.security_2018,
    ranked.security_2018 = ranked.fastest_security_2018,
    ranked.ring_dimension = ranked.fastest_ring_dimension
    and abs(ranked.log_qp - ranked.fastest_log_qp) <= 1,
    ranked.experiment,
    ranked.operation,
    ranked.phase,
    ranked.size,
    ranked.data_pattern,
    ranked.threads,
    ranked.repetitions,
    ranked.rank,
    median_of(ranked.sorted),
    case
        when pairs.sorted is not null then cardinality(pairs.sorted)
        else least(cardinality(ranked.sorted), cardinality(ranked.fastest_sorted))
    end,
    figures.ratio,
    figures.low,
    figures.high,
    verdict(1 / figures.high, 1 / figures.low),
    ranked.comparison_key,
    pairs.sorted is not null,
    ranked.security_2024,
    ranked.fastest_ring_dimension,
    ranked.fastest_log_qp,
    ranked.fastest_security_2018,
    ranked.depth,
    ranked.is_least,
    ranked.data_set,
    ranked.case_key
from (
    select
        timed.*,
        rank() over fastest_first as rank,
        first_value(timed.variant) over fastest_first as fastest_variant,
        first_value(timed.trial_ids) over fastest_first as fastest_trial_ids,
        first_value(timed.sorted) over fastest_first as fastest_sorted,
        first_value(timed.security_2018) over fastest_first as fastest_security_2018,
        first_value(timed.ring_dimension) over fastest_first as fastest_ring_dimension,
        first_value(timed.log_qp) over fastest_first as fastest_log_qp
    from (
        select
            g.run_id,
            c.comparison_key,
            c.key as case_key,
            c.variant,
            c.scheme,
            coalesce(p.ring_dimension, c.ring_dimension) as ring_dimension,
            p.log_qp,
            p.security_2018,
            p.security_2024,
            c.experiment,
            c.operation,
            s.phase,
            c.size,
            c.data_pattern,
            c.threads,
            s.repetitions as sample_repetitions,
            coalesce(s.repetitions, c.repetitions) as repetitions,
            c.depth,
            c.is_least,
            c.data_set,
            s.sorted,
            g.trial_ids
        from trial_group as g
        join case_ as c on c.key = g.case_key
        left join build as b on b.id = g.build_id
        left join parameter_set as p on p.id = g.parameter_set_id
        cross join lateral (
            select sample.phase, sample.repetitions, array_agg(sample.value order by sample.value) as sorted
            from sample
            where sample.trial_id = any (g.trial_ids) and sample.metric = 'time' and not sample.is_warmup
            group by sample.phase, sample.repetitions
        ) as s
        where g.status = 'ok' and b.is_reference is not true
    ) as timed
    window fastest_first as (
        partition by
            timed.run_id,
            timed.comparison_key,
            timed.phase,
            timed.sample_repetitions,
            case when any_security then null else timed.security_2018 end
        order by median_of(timed.sorted), timed.variant
    )
) as ranked
cross join lateral (
    select array_agg(pair.own_s / pair.fastest_s order by pair.own_s / pair.fastest_s) as sorted
    from (
        select
            max(s.value) filter (where s.trial_id = any (ranked.trial_ids)) as own_s,
            max(s.value) filter (where s.trial_id = any (ranked.fastest_trial_ids)) as fastest_s,
            max(t.started_at) <= min(t.started_at + t.duration_s * interval '1 second') as is_one_turn
        from sample as s
        join trial as t on t.id = s.trial_id
        where
            s.trial_id = any (ranked.trial_ids || ranked.fastest_trial_ids)
            and s.phase = ranked.phase
            and s.repetitions is not distinct from ranked.sample_repetitions
            and s.metric = 'time'
            and not s.is_warmup
        group by t.process, s.ordinal
    ) as pair
    where pair.own_s is not null and pair.fastest_s > 0 and pair.is_one_turn
) as pairs
cross join lateral (
    select
        coalesce(
            median_of(pairs.sorted), median_of(ranked.sorted) / nullif(median_of(ranked.fastest_sorted), 0)
        ) as ratio,
        case
            when pairs.sorted is not null then interval_low(pairs.sorted)
            else interval_low(ranked.sorted) / nullif(interval_high(ranked.fastest_sorted), 0)
        end as low,
        case
            when pairs.sorted is not null then interval_high(pairs.sorted)
            else interval_high(ranked.sorted) / nullif(interval_low(ranked.fastest_sorted), 0)
        end as high
) as figures;
end;

comment on function ratios(boolean) is
    'Internal: the rows of ratio, or with any_security those of ratio_any_security';

create or replace view ratio as select * from ratios(false);

create view ratio_any_security as select * from ratios(true);

-- The figures of the file published.csv, which migrating loads. A new file replaces them all.
create table published (
    id integer primary key,
    source text not null,
    year integer not null,
    system text not null,
    host text not null,
    scheme text not null check (scheme in ('bfv', 'bgv', 'ckks')),
    figure text not null,
    metric text not null,
    unit text not null,
    value double precision not null,
    stated text not null,
    note text,
    variant text,
    experiment text,
    operation text,
    phase text,
    ring_dimension integer,
    repetitions integer,
    data_set text,
    checksum text not null
);

-- The case of ours that a published figure is about. The sources leave open which vectors they took: of several
-- cases that differ in nothing else, the fullest vector of random data in one ciphertext stands for them.
create view published_match as
select distinct on (r.run_id, p.id, r.ring_dimension, r.is_least)
    r.run_id,
    p.id as published_id,
    p.source,
    p.year,
    p.system,
    p.host as published_host,
    p.scheme,
    p.figure,
    p.metric,
    p.unit,
    p.value as published_value,
    p.note,
    r.variant,
    r.experiment,
    r.operation,
    r.phase,
    r.ring_dimension,
    r.is_least,
    r.log_qp,
    r.security_2018,
    r.security_2024,
    r.size,
    r.data_pattern,
    r.repetitions,
    r.host,
    r.n,
    r.median,
    r.ci_low,
    r.ci_high,
    r.case_key
from published as p
join results as r
    on r.variant = p.variant
    and r.scheme = p.scheme
    and r.experiment = p.experiment
    and r.operation = p.operation
    and r.phase = p.phase
    and r.metric = p.metric
    and r.unit = p.unit
    and r.ring_dimension = coalesce(p.ring_dimension, r.ring_dimension)
    and r.repetitions is not distinct from p.repetitions
    and r.data_set is not distinct from p.data_set
where r.status = 'ok' and r.threads = 1 and r.ciphertexts = 1
order by r.run_id, p.id, r.ring_dimension, r.is_least, r.data_pattern = 'random' desc, r.size desc, r.case_key;

comment on view ratio is
    'Every variant against the fastest one of its security level (2018): time / time of the fastest, sample by sample, '
    'per run, comparison, phase and level; pseudo-libraries are left out';
comment on column ratio.fastest_variant is
    'Variant with the lowest median time at this security level; its own row has ratio 1';
comment on column ratio.is_equal_security is
    'Always true: variants of other levels have a fastest of their own, see ratio_any_security';
comment on column ratio.repetitions is
    'Operations applied before this value was taken (depth, noise), or in a row (chain); otherwise NULL';
comment on column ratio.rank is 'Place by median time at this security level, 1 for the fastest';
comment on column ratio.n is
    'Number of pairs: samples of the same process number and ordinal; where is_paired is false, samples of the one '
    'with fewer';
comment on column ratio.ratio is
    'Median of time of this variant / time of the fastest; where is_paired is false, ratio of their medians';
comment on column ratio.ci_low is
    'Lower bound of the ratio''s 95 % interval, the conservative one where is_paired is false; NULL for fewer than 6 '
    'samples';
comment on column ratio.ci_high is
    'Upper bound of the ratio''s 95 % interval, the conservative one where is_paired is false; NULL for fewer than 6 '
    'samples';
comment on column ratio.is_paired is
    'Whether the variant and the fastest took turns, so that their samples pair up; trials that do not overlap in time '
    'did not';
comment on column ratio.security_2024 is
    'Classical security in bits (0, 128, 192, 256) by the 2024 guidelines; NULL like log_q';
comment on column ratio.fastest_ring_dimension is 'ring_dimension of the fastest variant';
comment on column ratio.fastest_log_qp is 'log_qp of the fastest variant';
comment on column ratio.fastest_security_2018 is 'security_2018 of the fastest variant';
comment on column ratio.depth is
    'Multiplications one after another that the chain was made for; NULL where the suite gave the chain or left it '
    'to the library';
comment on column ratio.is_least is
    'Whether the ring dimension is the smallest that is secure for the chain, rather than given by the suite';
comment on column ratio.data_set is 'Name of the real data; NULL where vectors are made up';
comment on column ratio.case_key is 'The case: the same in all runs and on all hosts';

-- The columns mean the same in both views, but for those that are about the level.
do $$
declare
    name text;
    description text;
begin
    for name, description in
        select attname, col_description(attrelid, attnum)
        from pg_attribute where attrelid = 'ratio'::regclass and attnum > 0
    loop
        execute format('comment on column ratio_any_security.%I is %L', name, description);
    end loop;
end
$$;

comment on view ratio_any_security is
    'As ratio, but across security levels: a ratio with is_equal_security false compares unlike things';
comment on column ratio_any_security.fastest_variant is
    'Variant with the lowest median time, whatever its security; its own row has ratio 1';
comment on column ratio_any_security.is_equal_security is
    'Whether this variant and the fastest have the same security_2018; where false the ratio compares unlike things';
comment on column ratio_any_security.rank is 'Place by median time, whatever the security; 1 for the fastest';

comment on table published is
    'Figures from papers, which stand beside ours and are never ranked; those that a case of ours is about name it';
comment on column published.id is 'Place in the file';
comment on column published.source is 'Paper or report';
comment on column published.year is 'Year of the source';
comment on column published.system is 'Library or accelerator that was measured';
comment on column published.host is 'Machine that it was measured on, as the source says';
comment on column published.scheme is 'bfv, bgv or ckks';
comment on column published.figure is 'What was measured, in the words of the source';
comment on column published.metric is 'time or peak_memory';
comment on column published.unit is 'Unit of value: s or bytes';
comment on column published.value is 'The figure in that unit';
comment on column published.stated is 'The figure as the source has it';
comment on column published.note is 'What one should know of it; NULL where there is nothing';
comment on column published.variant is 'Variant of ours that it is about; NULL where we have no such case';
comment on column published.experiment is 'Experiment of our case; NULL like variant';
comment on column published.operation is 'Operation of our case; NULL like variant';
comment on column published.phase is 'Phase of our case; NULL like variant';
comment on column published.ring_dimension is 'N of our case; NULL where the source leaves it open';
comment on column published.repetitions is 'Operations in a row of our case; NULL where it does not repeat';
comment on column published.data_set is 'Real data of our case; NULL where vectors are made up';
comment on column published.checksum is 'Of the file that it was loaded from';

comment on view published_match is
    'Published figures beside ours of the same case: a row per run, figure and ring dimension. The same case: equal '
    'variant, scheme, experiment, operation, phase, metric, repetitions, data set, and N where the source tells it; one '
    'thread, one ciphertext';
comment on column published_match.run_id is 'Run: one execution of a suite on a host';
comment on column published_match.published_id is 'Identity of the published figure';
comment on column published_match.source is 'Paper or report';
comment on column published_match.year is 'Year of the source';
comment on column published_match.system is 'Library that the source measured';
comment on column published_match.published_host is 'Machine that it was measured on, as the source says';
comment on column published_match.scheme is 'bfv, bgv or ckks';
comment on column published_match.figure is 'What was measured, in the words of the source';
comment on column published_match.metric is 'time or peak_memory';
comment on column published_match.unit is 'Unit of both figures: s or bytes';
comment on column published_match.published_value is 'The published figure';
comment on column published_match.note is 'What one should know of it; NULL where there is nothing';
comment on column published_match.variant is 'Variant of our case';
comment on column published_match.experiment is 'Experiment of our case';
comment on column published_match.operation is 'Operation of our case';
comment on column published_match.phase is 'Phase of our case';
comment on column published_match.ring_dimension is 'N of our case';
comment on column published_match.is_least is
    'Whether that N is the smallest that is secure for the chain, rather than given by the suite';
comment on column published_match.log_qp is 'log2 of Q times the special primes of our case';
comment on column published_match.security_2018 is
    'Classical security of our case in bits (0, 128, 192, 256) by the 2018 standard';
comment on column published_match.security_2024 is
    'Classical security of our case in bits (0, 128, 192, 256) by the 2024 guidelines';
comment on column published_match.size is 'Elements of our vector';
comment on column published_match.data_pattern is 'Data of our vector';
comment on column published_match.repetitions is 'Operations in a row; NULL where the case does not repeat';
comment on column published_match.host is 'Name of the host of our run';
comment on column published_match.n is 'Number of our samples';
comment on column published_match.median is 'Our figure: median of the samples';
comment on column published_match.ci_low is 'Lower bound of its 95 % interval; NULL for fewer than 6 samples';
comment on column published_match.ci_high is 'Upper bound of its 95 % interval; NULL for fewer than 6 samples';
comment on column published_match.case_key is 'The case: the same in all runs and on all hosts';
