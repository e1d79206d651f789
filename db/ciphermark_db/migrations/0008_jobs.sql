-- Jobs of the service, and what tells a run's parts and progress. The queue itself lives in a schema of its own that
-- only the service makes: see docs/decisions/0012.

alter table run add column continues text references run;

comment on column run.continues is
    'The run whose job this run goes on with on another host; NULL where it began the job, or had none';

create index run_continues on run (continues) where continues is not null;

alter table trial add column sequence bigint generated always as identity;

comment on column trial.sequence is 'The order in which trials were recorded';

create index trial_run_sequence on trial (run_id, sequence);

create table job (
    id text primary key,
    suite text not null,
    suite_text text not null,
    variants text[] not null,
    needed_variants text[] not null,
    needed_isa text[] not null,
    needed_memory_mb bigint not null,
    queue text not null,
    queue_job_id bigint,
    state text not null check (state in ('queued', 'running', 'done', 'cancelled', 'failed')),
    reason text,
    hostname text,
    attempts integer not null default 0,
    deaths integer not null default 0,
    trials integer,
    submitted_at timestamptz not null default now(),
    started_at timestamptz,
    ended_at timestamptz,
    check ((state in ('done', 'cancelled', 'failed')) = (ended_at is not null)),
    check (state not in ('cancelled', 'failed') or reason is not null)
);

create index job_open on job (queue) where state = 'queued';
create index job_submitted on job (submitted_at, id);

comment on table job is
    'Suites that the service was asked to execute. The id is also the id of the run that begins it';
comment on column job.variants is 'The variants that were asked for; empty: all of the suite';
comment on column job.queue is 'The queue of jobs with the same needs';
comment on column job.queue_job_id is 'The job of the queue behind it, in queue.procrastinate_jobs';
comment on column job.reason is 'Why it failed or was cancelled; of an open job: what went wrong at the last attempt';
comment on column job.hostname is 'The host that executes it, or did so last';
comment on column job.attempts is 'How often a host began to execute it';
comment on column job.deaths is 'How many of these attempts died, or their worker did';
comment on column job.trials is 'How many trials it comes to; NULL before its first attempt';

create table offer (
    worker_id bigint primary key,
    hostname text not null,
    fingerprint text not null,
    cpu_model text not null,
    variants text[] not null,
    isa text[] not null,
    memory_mb bigint not null,
    since timestamptz not null default now()
);

comment on table offer is
    'What the hosts of benchmark workers have; worker_id is that of queue.procrastinate_workers';
