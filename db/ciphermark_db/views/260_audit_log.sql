create view audit_log as
select
    a.acted_at,
    a.actor,
    a.action,
    a.run_id,
    a.detail
from audit as a;

comment on view audit_log is 'Who submitted, cancelled, imported, labelled and deleted runs, and when: a row per action';
