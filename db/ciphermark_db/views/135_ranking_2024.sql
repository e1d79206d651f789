create view ranking_2024 as select * from ratios where kind = 'equal_security_2024';

comment on view ranking_2024 is 'As ranking, by security levels of the guidelines (2024): security_compared_2024';
