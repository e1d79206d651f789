alter table offer add column waits_for text;

comment on column offer.waits_for is 'What its worker waits for before it takes jobs; NULL: nothing';
