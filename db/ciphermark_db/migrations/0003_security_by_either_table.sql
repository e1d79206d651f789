-- Readers compare at a level of either table.
alter table case_info add column security_compared_2024 integer;

update case_info
set security_compared_2024 = case division when 'best' then security_bits else security_2024 end;

alter table ratio
drop constraint ratio_kind_check,
add check (kind in ('equal_security', 'equal_security_2024', 'any_security', 'hexl'));

comment on table ratio is
    'Times of cases by those of another case of their comparison: of the fastest of one security level by the 2018 table '
    '(equal_security) or the 2024 table (equal_security_2024), or of all levels (any_security), or of the same library with '
    'HEXL (hexl); kinds of encryption apart where they bear on times';
