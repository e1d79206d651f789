-- A variant whose samples are all disturbed stands apart: it wins nothing.
alter table ratio
drop constraint ratio_standing_check,
add check (standing in ('win', 'tie', 'behind', 'alone', 'disturbed'));
