-- What of a journal the database would not take: it stays in the journal, and stands in nobody's way.

create table refusal (
    trial_id text primary key,
    run_id text not null references run,
    reason text not null,
    refused_at timestamptz not null default now()
);

create index refusal_run on refusal (run_id);

comment on table refusal is 'Trials that were measured and cannot be recorded, with the reason; their outcomes are in the journal of the run';
