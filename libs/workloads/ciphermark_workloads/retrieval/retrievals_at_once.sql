select *
from (
    select
        *,
        inputs * answers as got,
        min(inputs * answers) over same <> max(inputs * answers) over same as has_several
    from retrievals
    where answer_s > 0
    window same as (
        partition by run_id, database_size, answered_size / nullif(answers, 0), scheme, threads, security_2018
    )
) as each
where has_several
