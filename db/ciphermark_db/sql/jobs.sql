-- name: lock_queue_schema
select pg_advisory_xact_lock(7267101931);

-- name: queue_version
select obj_description(oid, 'pg_namespace') as version from pg_namespace where nspname = 'queue';

-- name: create_queue_schema
create schema queue;

-- name: record_job
insert into job (
    id, suite, suite_text, variants, needed_variants, needed_isa, needed_memory_mb, queue, queue_job_id, state
) values (
    %(id)s, %(suite)s, %(suite_text)s, %(variants)s, %(needed_variants)s, %(needed_isa)s, %(needed_memory_mb)s,
    %(queue)s, %(queue_job_id)s, 'queued'
);

-- name: count_queued
select count(*) as jobs from job where state = 'queued';

-- name: job
select * from job where id = %(id)s;

-- name: submitter
select actor from audit where run_id = %(id)s and action = 'submitted';

-- name: open_queues
-- A host may lack a variant only if it was not chosen for the job and no other host has it.
select distinct queue
from job
where
    state = 'queued'
    and not exists (
        select 1
        from unnest(needed_variants) as needed (name)
        where
            needed.name <> all (%(variants)s::text[])
            and (
                cardinality(job.variants) > 0
                or exists (
                    select 1
                    from offer as o
                    join queue.procrastinate_workers as w on w.id = o.worker_id
                    where needed.name = any (o.variants)
                )
            )
    )
    and needed_isa <@ %(isa)s::text[]
    and needed_memory_mb <= %(memory_mb)s;

-- name: lock_entry
-- The queue's entry, if the worker holds it. No other worker takes or ends it until the transaction ends.
select id from queue.procrastinate_jobs
where id = %(queue_job_id)s and worker_id is not distinct from %(worker_id)s and status = 'doing'
for update;

-- name: lock_rescued
-- The job of an entry whose worker counts as dead. Skipped if another worker rescues it, or its own worker ends it.
select j.id, j.attempts, j.deaths, j.state, q.abort_requested
from queue.procrastinate_jobs as q
join job as j on j.queue_job_id = q.id
where q.id = %(queue_job_id)s and q.worker_id is not distinct from %(worker_id)s and q.status = 'doing'
for update skip locked;

-- name: begin_job
-- The number of attempts is a fencing token: an attempt's statements name it, and have no effect after a later attempt.
update job
set
    state = 'running', reason = null, hostname = %(hostname)s, attempts = attempts + 1,
    started_at = coalesce(started_at, now())
from (
    select id from queue.procrastinate_jobs
    where id = %(queue_job_id)s and worker_id = %(worker_id)s and status = 'doing'
    for update
) as held
where job.id = %(id)s and job.queue_job_id = held.id and job.state in ('queued', 'running')
returning job.attempts;

-- name: count_job_trials
update job set trials = %(trials)s where id = %(id)s and attempts = %(attempt)s and state in ('queued', 'running');

-- name: tell_wait
update job set reason = %(reason)s where id = %(id)s and attempts = %(attempt)s and state = 'running';

-- name: requeue_job
update job set state = 'queued', reason = %(reason)s
where id = %(id)s and attempts = %(attempt)s and state in ('queued', 'running')
returning id;

-- name: count_death
-- An attempt dies once, although both its worker and a rescuing worker may report it.
update job set deaths = deaths + 1
where id = %(id)s and attempts = %(attempt)s and state = 'running'
returning deaths;

-- name: end_orphans
-- Open jobs that the queue has ended: their worker died before it recorded the end.
update job
set
    state = case when q.status in ('cancelled', 'aborted') or q.abort_requested then 'cancelled' else 'failed' end,
    reason = case
        when q.status in ('cancelled', 'aborted') or q.abort_requested then 'cancelled' else 'the queue gave it up'
    end,
    ended_at = now()
from queue.procrastinate_jobs as q
where q.id = job.queue_job_id and job.state in ('queued', 'running') and q.status not in ('todo', 'doing');

-- name: end_job
-- Idempotent: a repetition after a lost answer changes nothing.
update job
set
    state = %(state)s, ended_at = coalesce(ended_at, now()),
    reason = case when ended_at is null then %(reason)s else reason end
where id = %(id)s and attempts = %(attempt)s and state in ('queued', 'running', %(state)s)
returning id;

-- name: end_cancelled
-- No worker begins a job whose entry the queue has cancelled.
update job set state = 'cancelled', reason = 'cancelled before a host began it', ended_at = now()
from queue.procrastinate_jobs as q
where
    q.id = job.queue_job_id and q.status = 'cancelled' and job.id = %(id)s and job.state in ('queued', 'running');

-- name: is_held
select 1 from queue.procrastinate_jobs where id = %(queue_job_id)s and worker_id = %(worker_id)s and status = 'doing';

-- name: is_abort_requested
select abort_requested from queue.procrastinate_jobs where id = %(queue_job_id)s;

-- name: lock_machine
select pg_try_advisory_lock(hashtextextended(%(machine)s, 7267101933));

-- name: machine_holder
select
    a.application_name || coalesce(' at ' || host(a.client_addr), '')
    || ', connected since ' || to_char(a.backend_start at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') || ' UTC'
from pg_locks as l
join pg_stat_activity as a on a.pid = l.pid
where
    l.locktype = 'advisory' and l.granted and l.objsubid = 1
    and l.database = (select oid from pg_database where datname = current_database())
    and ((l.classid::bigint << 32) | l.objid::bigint) = hashtextextended(%(machine)s, 7267101933);

-- name: announce
insert into offer (worker_id, hostname, fingerprint, cpu_model, variants, isa, memory_mb, cores, waits_for)
values (
    %(worker_id)s, %(hostname)s, %(fingerprint)s, %(cpu_model)s, %(variants)s, %(isa)s, %(memory_mb)s, %(cores)s,
    %(waits_for)s
)
on conflict (worker_id) do update set variants = excluded.variants, waits_for = excluded.waits_for;

-- name: forget_offers
delete from offer where worker_id not in (select id from queue.procrastinate_workers);

-- name: hosts
select
    o.worker_id, o.hostname, o.fingerprint, o.cpu_model, o.variants, o.isa, o.memory_mb, o.cores, o.since, o.waits_for,
    w.last_heartbeat,
    w.last_heartbeat > now() - %(stalled_s)s * interval '1 second' as is_alive,
    (
        select j.id
        from queue.procrastinate_jobs as q
        join job as j on j.queue_job_id = q.id
        where q.worker_id = o.worker_id and q.status = 'doing'
        limit 1
    ) as run_id
from offer as o
join queue.procrastinate_workers as w on w.id = o.worker_id
order by o.hostname, o.worker_id;

-- name: run_fingerprint
select h.fingerprint from run as r join host as h on h.id = r.host_id where r.id = %(id)s;

-- name: run_origin
select r.continues, j.ended_at is not null as has_ended
from run as r
join job as j on j.id = coalesce(r.continues, r.id)
where r.id = %(id)s;

-- name: runs
-- The latest first. The place of a run never changes, so that pages stay stable while jobs begin. Jobs are ordered by
-- submission, other runs by recording, independently of the hosts' clocks. Jobs from before migration 0003 have the
-- number of the run before them.
select
    coalesce(j.id, r.id) as id,
    coalesce(j.suite, r.suite) as suite,
    coalesce(j.state, 'recorded') as state,
    j.reason,
    coalesce(j.hostname, h.hostname) as host,
    coalesce(j.attempts, 1) as attempts,
    j.trials,
    coalesce(j.submitted_at, r.started_at) as submitted_at,
    coalesce(j.started_at, r.started_at) as started_at,
    j.ended_at,
    case when j.id is null or j.state = 'running' then r.progress end as progress
from job as j
full join (select * from run where continues is null) as r on r.id = j.id
left join host as h on h.id = r.host_id
where
    (%(id)s::text is null or coalesce(j.id, r.id) = %(id)s)
    and (
        %(before)s::text is null
        or (coalesce(j.sequence, r.sequence), coalesce(j.submitted_at, r.started_at), coalesce(j.id, r.id)) < (
            select coalesce(b.sequence, c.sequence), coalesce(b.submitted_at, c.started_at), asked.id
            from (select %(before)s::text as id) as asked
            left join job as b on b.id = asked.id
            left join run as c on c.id = asked.id
        )
    )
order by coalesce(j.sequence, r.sequence) desc, submitted_at desc, id desc
limit %(limit)s;

-- name: run_parts
select r.id, h.hostname as host, h.fingerprint, r.started_at, count(t.id) as trials, max(t.sequence) as sequence
from run as r
join host as h on h.id = r.host_id
left join trial as t on t.run_id = r.id
where r.id = %(id)s or r.continues = %(id)s
group by r.id, h.hostname, h.fingerprint, r.started_at
order by r.sequence;

-- name: run_statuses
select t.status, count(*) as trials
from trial as t
join run as r on r.id = t.run_id
where r.id = %(id)s or r.continues = %(id)s
group by t.status
order by t.status;

-- name: run_needs
select
    needed_variants as variants, needed_isa as isa, needed_memory_mb as memory_mb, cardinality(variants) > 0 as are_chosen
from job
where id = %(id)s;

-- name: events
select
    t.sequence, t.id as trial_id, t.run_id, h.hostname as host, c.variant, c.experiment, c.operation, c.scheme,
    c.requested_ring_dimension as ring_dimension, c.vector_length, t.process, t.status, t.error, t.duration_s
from trial as t
join run as r on r.id = t.run_id
join host as h on h.id = r.host_id
join case_info as c on c.case_info_id = t.case_info_id
where (r.id = %(id)s or r.continues = %(id)s) and t.sequence > %(after)s
order by t.sequence
limit 1000;

-- name: results_of_parts
select * from results where run_id = any (%(parts)s);

-- name: counted
-- The service's counts for Prometheus.
select 'jobs' as metric, state as label, count(*) as n from job group by state
union all
select 'trials', status, count(*) from trial group by status
union all
select 'workers', '', count(*) from queue.procrastinate_workers
where last_heartbeat > now() - %(stalled_s)s * interval '1 second';
