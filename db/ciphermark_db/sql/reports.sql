-- name: run
select r.id, r.suite, r.label, r.started_at, h.hostname, h.cpu_model, h.fingerprint
from run as r
join host as h on h.id = r.host_id
where r.id = %(run_id)s;

-- name: run_security_table
-- The newest table that the suite names.
select coalesce(max(security_table), '2018') as security_table from case_info where run_id = %(run_id)s;

-- name: runs
-- The latest runs, the latest first, without reference runs; trials are counted for these runs only.
select r.run_id, r.label, r.suite, r.started_at, r.host, r.cpu_model, r.software_version, r.is_imported, counted.*, (
    select case when j.id is null or j.state = 'running' then own.progress ->> 'words' end
    from run as own
    left join job as j on j.id = own.id
    where own.id = r.run_id
) as progress
from (
    select *
    from runs
    where continues is null and not is_shipped
    order by sequence desc
    limit %(limit)s
) as r
cross join lateral (
    select
        count(*) as trials,
        count(*) filter (where t.status = 'ok') as ok,
        count(*) filter (where t.status = 'unsupported') as unsupported,
        count(*) filter (where t.status not in ('ok', 'unsupported')) as other,
        (
            select count(*)
            from refusal as x
            join run as part on part.id = x.run_id
            where part.id = r.run_id or part.continues = r.run_id
        ) as refused
    from trial as t
    join run as part on part.id = t.run_id
    where part.id = r.run_id or part.continues = r.run_id
) as counted
order by r.sequence desc;

-- name: reference_runs
select id, label, suite from run where is_shipped order by sequence;

-- name: labeled_runs
-- In the order in which they were recorded.
select id from run where label = %(label)s order by sequence;

-- name: trials_of_run
-- Every recorded trial of a run, without its continuations, by the case that it measured.
select
    t.id,
    concat(i.variant, ' ', i.operation, ' (', i.scheme, ', N = ', i.requested_ring_dimension, ')') as words
from trial as t
join case_info as i on i.case_info_id = t.case_info_id
where t.run_id = %(run_id)s
order by t.sequence;

-- name: old_runs
-- Runs of at least an age, the oldest first, without labeled runs and without open jobs of the service.
select r.id
from run as r
left join job as j on j.id = r.id
where
    r.continues is null
    and r.label is null
    and not r.is_shipped
    and r.started_at < now() - %(days)s * interval '1 day'
    and (j.id is null or j.ended_at is not null)
order by r.started_at, r.id;

-- name: refusals
select x.reason, count(*) as trials
from refusal as x
join run as part on part.id = x.run_id
where part.id = %(run_id)s or part.continues = %(run_id)s
group by x.reason
order by trials desc, x.reason
limit 20;

-- name: host_state
-- Host states of a run and of its parts on other hosts.
select *
from host_states
where run_id = %(run_id)s or continues = %(run_id)s
order by started_at, run_id;

-- name: run_statuses
-- How the trials of a run ended, the most frequent first.
select t.status, count(*) as trials
from trial as t
join run as part on part.id = t.run_id
where part.id = %(run_id)s or part.continues = %(run_id)s
group by t.status
order by trials desc, t.status;

-- name: run_measured
select distinct variant, experiment, operation, metric, status
from results
where run_id = %(run_id)s;

-- name: cost_table
-- Times that cost tables are of, of all hosts and builds of a variant: the least disturbed ones last, by quarters of the
-- share of undisturbed samples. Disturbed medians are too large: the smallest of a quarter is last. Of undisturbed ones
-- the latest is.
select
    i.run_id, r.started_at, i.build_id, i.hexl, h.fingerprint, h.hostname, h.caches_bytes, i.experiment, i.operation,
    i.scheme, i.ring_dimension, i.modulus_bits, i.special_primes, i.decomposition_digits, i.plain_modulus, i.scale,
    i.level, i.threads, i.residency, s.stage, s.median, s.ci_low, s.ci_high, s.n, f.reference_kernel_s
from case_info as i
join run as r on r.id = i.run_id
join host as h on h.id = r.host_id
join result as s on s.case_info_id = i.case_info_id
left join case_facts as f on f.case_info_id = i.case_info_id
where
    i.variant = %(variant)s and s.metric = 'time' and i.log_q is not null and i.status = 'ok'
    and s.party is null and s.step is null and s.repetitions is null and i.ciphertexts = 1
    and (
        (i.residency is not null and s.stage in ('evaluate', 'encrypt', 'decrypt'))
        or s.stage in ('dump', 'load', 'dump_seeded', 'load_seeded')
    )
order by
    round(4 * coalesce(s.undisturbed_share, 1)),
    case when round(4 * coalesce(s.undisturbed_share, 1)) < 4 then -s.median end,
    r.started_at,
    i.case_info_id;

-- name: measured_costs
-- Both parties' time, bytes, memory and largest error of a pass of each workload of a run.
select
    case_key, work_s, ci_low, ci_high, upload, download, keys_size, client_peak_bytes, server_peak_bytes, max_error
from whole_costs
where run_id = %(run_id)s;

-- name: server_times
-- The server's evaluation by case and stage, with the workers behind a median; of failed cases the reason.
select
    i.case_key,
    i.status,
    s.stage,
    s.n,
    s.median,
    s.ci_low,
    s.ci_high,
    t.workers,
    t.error
from case_info as i
cross join lateral (
    select count(*) as workers, min(error) as error
    from trial
    where case_info_id = i.case_info_id
) as t
left join result as s on s.case_info_id = i.case_info_id and s.metric = 'time' and s.step = 'evaluate'
where i.run_id = %(run_id)s
order by i.case_key, s.stage;

-- name: key_times
-- The median time of making a worker's keys on a host, by run and parameter set, with the operations that need keys.
select
    i.variant, i.scheme, i.ring_dimension, i.modulus_bits, i.special_primes, i.plain_modulus, i.scale,
    array_agg(distinct i.operation) as operations,
    percentile_cont(0.5) within group (order by (t.facts ->> 'keys_s')::double precision) as keys_s
from trial as t
join case_info as i on i.case_info_id = t.case_info_id
join run as r on r.id = t.run_id
join host as h on h.id = r.host_id
where h.fingerprint = %(fingerprint)s and t.facts ->> 'keys_s' is not null and i.log_q is not null
group by
    r.id, i.variant, i.threads, i.scheme, i.ring_dimension, i.modulus_bits, i.special_primes, i.plain_modulus, i.scale;

-- name: prediction_residuals
-- Logarithms of measured over predicted times of evaluations on a host, of predictions that lack nothing; without those
-- of the run `but_of`, if one is given.
select ln(t.median / t.predicted) as residual
from track_record as t
join run as r on r.id = t.run_id
join host as h on h.id = r.host_id
where
    t.variant = %(variant)s and h.fingerprint = %(fingerprint)s
    and t.step = 'evaluate' and t.metric = 'time' and t.predicted > 0 and t.median > 0
    and t.run_id::text is distinct from %(but_of)s::text
    and not exists (select from unnest(t.uncovered) as missing where missing like 'evaluate: %%')
order by residual;

-- name: measured_programs
-- The latest time of each program's evaluation by variant, scheme, N, threads and dimensions: the server's for a workload, that of
-- a call for an operation that bootstraps all slots. ``names`` has a list of workloads and operations by program.
select distinct on (program, variant, scheme, ring_dimension, threads, dimensions)
    program, variant, scheme, ring_dimension, threads, log_qp, dimensions, options_of(dimensions) as options, seconds,
    is_disturbed, host
from jsonb_each(%(names)s::jsonb) as asked (program, several)
cross join jsonb_array_elements_text(several) as names (operation)
join (
    select operation, variant, scheme, ring_dimension, threads, log_qp, dimensions, server_s as seconds,
        'server_s' = any (disturbed_times) as is_disturbed, run_id
    from whole_costs
    union all
    select operation, variant, scheme, ring_dimension, threads, log_qp, dimensions, median as seconds,
        undisturbed_share is not distinct from 0 and slowdown is null as is_disturbed, run_id
    from results
    where metric = 'time' and stage = 'evaluate' and bootstrapping not like '%%slots%%'
) as measured using (operation)
join runs using (run_id)
where seconds is not null
order by program, variant, scheme, ring_dimension, threads, dimensions, sequence desc;
