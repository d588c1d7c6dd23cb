-- One row of JSON an article of the largest supplier: totals of the period,
-- the three maps by month and the three by store and month. That is less than
-- a computation does: no ranks, no classes, no orders, no search text, no
-- network, nothing stored.
.mode list
WITH
s AS MATERIALIZED (
  SELECT codein, magasin, mois, CAST(quantite AS REAL) q, CAST(ca AS REAL) ca,
    CAST(marge AS REAL) m
  FROM sales WHERE fournisseur = '@BIG' AND mois BETWEEN '@FIRST' AND '@LAST'),
k AS MATERIALIZED (
  SELECT codein, magasin, mois, CAST(stock AS REAL) q
  FROM stock WHERE fournisseur = '@BIG' AND mois BETWEEN '@FIRST' AND '@LAST'),
r AS MATERIALIZED (
  SELECT codein, magasin, mois, CAST(quantite AS REAL) q
  FROM receptions
  WHERE fournisseur = '@BIG' AND mois BETWEEN '@FIRST' AND '@LAST'),
totals AS MATERIALIZED (
  SELECT codein, sum(ca) ca, sum(q) q, sum(m) m, sum(m) / sum(ca) rate,
    count(DISTINCT magasin) stores
  FROM s GROUP BY codein),
sm AS MATERIALIZED (SELECT codein, json_group_object(mois, q) map FROM (
  SELECT codein, mois, sum(q) q FROM s GROUP BY codein, mois)
  GROUP BY codein),
km AS MATERIALIZED (SELECT codein, json_group_object(mois, q) map FROM (
  SELECT codein, mois, sum(q) q FROM k GROUP BY codein, mois)
  GROUP BY codein),
rm AS MATERIALIZED (SELECT codein, json_group_object(mois, q) map FROM (
  SELECT codein, mois, sum(q) q FROM r GROUP BY codein, mois)
  GROUP BY codein),
ss AS MATERIALIZED (
  SELECT codein, json_group_object(magasin, json(map)) map FROM (
    SELECT codein, magasin, json_group_object(mois, q) map FROM s
    GROUP BY codein, magasin) GROUP BY codein),
ks AS MATERIALIZED (
  SELECT codein, json_group_object(magasin, json(map)) map FROM (
    SELECT codein, magasin, json_group_object(mois, q) map FROM k
    GROUP BY codein, magasin) GROUP BY codein),
rs AS MATERIALIZED (
  SELECT codein, json_group_object(magasin, json(map)) map FROM (
    SELECT codein, magasin, json_group_object(mois, q) map FROM r
    GROUP BY codein, magasin) GROUP BY codein)
SELECT json_object('codein', a.codein, 'libelle1', a.libelle1,
  'totalCa', coalesce(t.ca, 0), 'totalQuantite', coalesce(t.q, 0),
  'totalMarge', coalesce(t.m, 0), 'tauxMarge', t.rate,
  'nbMagasins', coalesce(t.stores, 0),
  'sales12m', json(coalesce(sm.map, '{}')),
  'stock12m', json(coalesce(km.map, '{}')),
  'receptions12m', json(coalesce(rm.map, '{}')),
  'sales12mByStore', json(coalesce(ss.map, '{}')),
  'stock12mByStore', json(coalesce(ks.map, '{}')),
  'receptions12mByStore', json(coalesce(rs.map, '{}')))
FROM articles a
LEFT JOIN totals t USING (codein)
LEFT JOIN sm USING (codein) LEFT JOIN km USING (codein)
LEFT JOIN rm USING (codein) LEFT JOIN ss USING (codein)
LEFT JOIN ks USING (codein) LEFT JOIN rs USING (codein)
WHERE a.fournisseur = '@BIG'
ORDER BY t.ca DESC;
