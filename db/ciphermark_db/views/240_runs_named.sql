-- Runs that continue another one on a further host are named by their ids only.
create function runs_named(asked text) returns setof text
language sql stable
begin atomic
    (
        select r.id
        from run as r
        where
            coalesce(nullif(asked, ''), 'last') ~ '^last(:[^~]+)?(~[0-9]{1,6})?$'
            and r.continues is null
            and not r.is_shipped
            and coalesce(r.suite = substring(asked from '^last:([^~]+)'), true)
        order by r.is_imported, r.sequence desc
        limit 1
        offset coalesce(substring(asked from '^last[^~]*~([0-9]{1,6})$')::integer, 0)
    )
    union all
    (
        select named.id
        from (
            select
                r.id,
                case when r.id = asked then 0 when r.label = asked then 1 else 2 end as rank,
                row_number() over (
                    order by r.id = asked desc, r.label is not distinct from asked desc, r.is_imported, r.sequence desc
                ) as position,
                min(case when r.id = asked then 0 when r.label = asked then 1 else 2 end) over () as best
            from run as r
            where
                coalesce(nullif(asked, ''), 'last') !~ '^last(:[^~]+)?(~[0-9]{1,6})?$'
                and (starts_with(r.id, asked) or r.label = asked)
        ) as named
        where named.rank = named.best and named.position <= case named.best when 2 then 2 else 1 end
        order by named.position
    );
end;

comment on function runs_named(text) is
    'The run that a text names, by the rules of run_named. Two runs if several ids begin with it; none if it names '
    'none';
