-- name: make
-- The views of this schema come from the same files as the others, but read these views instead of the tables.
-- Uncorrected statistics have the names of the corrected ones. Statistics of times that have no uncorrected counterpart
-- are NULL; other metrics are never corrected.
create schema uncorrected;

comment on schema uncorrected is
    'The views once more, without correction for host interference: medians, intervals and verdicts as the clock measured';

create view uncorrected.result as
select
    r.case_info_id,
    r.stage,
    r.party,
    r.step,
    r.metric,
    r.repetitions,
    r.uncorrected_n as n,
    r.uncorrected_median as median,
    r.uncorrected_ci_low as ci_low,
    r.uncorrected_ci_high as ci_high,
    case when m.unit <> 's' then r.mad end as mad,
    case when m.unit <> 's' then r.min end as min,
    case when m.unit <> 's' then r.max end as max,
    r.uncorrected_n,
    r.uncorrected_median,
    r.uncorrected_ci_low,
    r.uncorrected_ci_high,
    null::double precision as undisturbed_share,
    null::double precision as slowdown,
    r.method
from public.result as r
join public.metric as m on m.name = r.metric;

create view uncorrected.ratio as
select
    kind,
    case_info_id,
    stage,
    party,
    step,
    repetitions,
    uncorrected_base as base,
    uncorrected_rank as rank,
    uncorrected_standing as standing,
    uncorrected_median as median,
    uncorrected_n as n,
    uncorrected_ratio as ratio,
    uncorrected_ci_low as ci_low,
    uncorrected_ci_high as ci_high,
    uncorrected_verdict as verdict,
    uncorrected_is_paired as is_paired,
    null::double precision as undisturbed_share,
    uncorrected_base,
    uncorrected_rank,
    uncorrected_standing,
    uncorrected_median,
    uncorrected_n,
    uncorrected_ratio,
    uncorrected_ci_low,
    uncorrected_ci_high,
    uncorrected_verdict,
    uncorrected_is_paired,
    method
from public.ratio;

create view uncorrected.sample as
select series_id, loops, value, 1::double precision as slowdown, false as is_disturbed, is_warmup, ordinal, repetitions
from public.sample;

create view uncorrected.host_state as
select
    run_id,
    timed_trials,
    watched_trials,
    timed_samples,
    undisturbed_share,
    short_trials,
    disturbed_phases,
    reference_kernel_s,
    reference_kernel_spread,
    reference_kernel_cost,
    run_delay_share,
    steal_share,
    null::double precision as slowdown,
    array[0]::double precision[] as reference_kernel_gains,
    method,
    true as is_uncorrected
from public.host_state;

do $$
begin
    if exists (select from pg_roles where rolname = 'ciphermark_reader') then
        grant usage on schema uncorrected to ciphermark_reader;
        alter default privileges in schema uncorrected grant select on tables to ciphermark_reader;
        grant select on all tables in schema uncorrected to ciphermark_reader;
    end if;
end
$$;

-- name: begin
set local search_path = uncorrected, public;

-- name: end
reset search_path;

-- name: drop
-- Dropped one by one, without cascade: a user's own view stops this.
do $$
declare
    made record;
begin
    if to_regnamespace('uncorrected') is null then
        return;
    end if;
    for made in select kind, name from view_file order by position desc loop
        execute format('drop %s uncorrected.%I', made.kind, made.name);
    end loop;
    drop view uncorrected.result, uncorrected.ratio, uncorrected.sample, uncorrected.host_state;
    drop schema uncorrected;
end
$$;
