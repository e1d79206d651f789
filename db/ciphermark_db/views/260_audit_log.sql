create view audit_log as
select
    a.acted_at,
    a.actor,
    a.action,
    a.run_id,
    a.detail
from audit as a;

comment on view audit_log is
    'Submissions, cancellations, imports, labels and deletions of runs, with their actor and time: a row per action';
