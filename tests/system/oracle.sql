-- What the rows must say, worked out from the CSV files by SQLite alone, and
-- compared with what gridctl has made of them: each value of each row.
--
-- Run by oracle.sh in a folder that holds
--   csv/*.csv        the files that were imported
--   rows.txt         a line a row: supplier, 0x1f, the row as JSON
--   tree.txt         a line a class: supplier, 0x1f, level, 0x1f, JSON
-- All sums and quotients are of whole numbers: cents, thousandths of a piece,
-- millionths. A value is written as 'n:' and millionths, 't:' and a text,
-- 'null' or 'object', so that a number is never taken for a text.

.output /dev/null
PRAGMA journal_mode = OFF;
.output stdout
PRAGMA synchronous = OFF;
PRAGMA temp_store = MEMORY;

.import --csv csv/suppliers.csv suppliers
.import --csv csv/stores.csv stores
.import --csv csv/nomenclature.csv nomenclature
.import --csv csv/articles.csv articles
.import --csv csv/sales.csv sales_csv
.import --csv csv/stock.csv stock_csv
.import --csv csv/receptions.csv receptions_csv
.import --csv csv/positions.csv positions_csv
.import --csv csv/network.csv network_csv
.import --csv csv/gammes.csv gammes

CREATE TABLE rows (f TEXT, line TEXT);
CREATE TABLE tree (f TEXT, niveau INTEGER, line TEXT);
.mode ascii
.separator "\037" "\n"
.import rows.txt rows
.import tree.txt tree
.mode list
.separator "|" "\n"

-- A decimal text as millionths is @MICRO(x): oracle.sh writes it out.

CREATE TABLE sales AS SELECT fournisseur f, codein c, magasin s, mois m,
  @MICRO(quantite) / 1000 q, @MICRO(ca) / 10000 ca, @MICRO(marge) / 10000 ma
  FROM sales_csv;
CREATE TABLE stock AS SELECT fournisseur f, codein c, magasin s, mois m,
  @MICRO(stock) / 1000 q FROM stock_csv;
CREATE TABLE receptions AS SELECT fournisseur f, codein c, magasin s, mois m,
  @MICRO(quantite) / 1000 q FROM receptions_csv;
CREATE TABLE positions AS SELECT fournisseur f, codein c, magasin s,
  @MICRO(stock) / 1000 q, nullif(premiereVente, '') premiere,
  nullif(derniereVente, '') derniere, nullif(derniereReception, '') reception
  FROM positions_csv;

-- Nothing is finer than the units that it is counted in here.
CREATE TABLE checks (name TEXT, ok INTEGER);
INSERT INTO checks SELECT 'facts are whole cents and thousandths',
  NOT EXISTS (SELECT 1 FROM sales_csv WHERE @MICRO(quantite) % 1000 <> 0
    OR @MICRO(ca) % 10000 <> 0 OR @MICRO(marge) % 10000 <> 0)
  AND NOT EXISTS (SELECT 1 FROM stock_csv WHERE @MICRO(stock) % 1000 <> 0)
  AND NOT EXISTS (
    SELECT 1 FROM receptions_csv WHERE @MICRO(quantite) % 1000 <> 0)
  AND NOT EXISTS (
    SELECT 1 FROM articles WHERE @MICRO(prixAchat) % 10000 <> 0
      OR @MICRO(prixVente) % 10000 <> 0 OR @MICRO(tva) % 100000 <> 0);

-- --- the period ------------------------------------------------------------

CREATE TABLE months AS
  WITH RECURSIVE month (i, year, month) AS (
    SELECT 11, substr(newest, 1, 4) + 0, substr(newest, 5) + 0
      FROM (SELECT max(m) newest FROM (
        SELECT m FROM sales UNION ALL SELECT m FROM stock
        UNION ALL SELECT m FROM receptions))
    UNION ALL
    SELECT i - 1, year - (month = 1), CASE month WHEN 1 THEN 12
      ELSE month - 1 END FROM month WHERE i > 0)
  SELECT i, printf('%04d%02d', year, month) m,
    date(printf('%04d-%02d-01', year, month), '+1 month', '-1 day') last_day
    FROM month;
CREATE UNIQUE INDEX months_m ON months (m);

-- Only what is in the period, of the suppliers that were dumped.
CREATE TABLE tested AS SELECT DISTINCT f FROM rows;
CREATE TABLE a AS SELECT articles.fournisseur f, articles.codein c,
  CASE WHEN articles.code3 <> '' THEN articles.code3 END code3,
  CASE WHEN prixAchat <> '' THEN @MICRO(prixAchat) / 10000 END achat,
  CASE WHEN prixVente <> '' THEN @MICRO(prixVente) / 10000 END vente,
  CASE WHEN tva <> '' THEN @MICRO(tva) / 100000 END tva,
  articles.codeCentrale centrale
  FROM articles WHERE fournisseur IN tested;
CREATE UNIQUE INDEX a_key ON a (f, c);

CREATE TABLE s12 AS SELECT sales.*, months.i FROM sales
  JOIN months USING (m) WHERE f IN tested;
CREATE TABLE k12 AS SELECT stock.*, months.i FROM stock
  JOIN months USING (m) WHERE f IN tested;
CREATE TABLE r12 AS SELECT receptions.*, months.i FROM receptions
  JOIN months USING (m) WHERE f IN tested;

-- --- sums ------------------------------------------------------------------

CREATE TABLE s_month AS SELECT f, c, m, i, sum(q) q FROM s12
  GROUP BY f, c, m;
CREATE TABLE k_month AS SELECT f, c, m, i, sum(q) q FROM k12
  GROUP BY f, c, m;
CREATE TABLE r_month AS SELECT f, c, m, i, sum(q) q FROM r12
  GROUP BY f, c, m;
CREATE INDEX s_month_key ON s_month (f, c);
CREATE INDEX k_month_key ON k_month (f, c);

CREATE TABLE s_store AS SELECT f, c, s, sum(q) q FROM s12 GROUP BY f, c, s;
CREATE UNIQUE INDEX s_store_key ON s_store (f, c, s);
CREATE UNIQUE INDEX positions_key ON positions (f, c, s);

CREATE TABLE total AS
  SELECT a.f, a.c, coalesce(sale.q, 0) q, coalesce(sale.ca, 0) ca,
    coalesce(sale.ma, 0) ma, coalesce(reception.q, 0) received,
    coalesce(month.sold, 0) sold, coalesce(month.before, 0) before,
    coalesce(month.after, 0) after, coalesce(keep.q, 0) kept, keep.months,
    coalesce(shop.stores, 0) stores, coalesce(shop.empty, 0) empty,
    pos.q stock, coalesce(pos.stores, 0) stocked, pos.premiere, pos.derniere,
    pos.reception
  FROM a
  LEFT JOIN (SELECT f, c, sum(q) q, sum(ca) ca, sum(ma) ma FROM s12
    GROUP BY f, c) sale USING (f, c)
  LEFT JOIN (SELECT f, c, sum(q) q FROM r_month GROUP BY f, c) reception
    USING (f, c)
  LEFT JOIN (SELECT f, c, sum(q > 0) sold, sum(q * (i < 6)) before,
    sum(q * (i >= 6)) after FROM s_month GROUP BY f, c) month USING (f, c)
  LEFT JOIN (SELECT f, c, sum(q) q, count(*) months FROM k_month
    GROUP BY f, c) keep USING (f, c)
  LEFT JOIN (SELECT s_store.f, s_store.c, count(*) stores,
    sum(coalesce(positions.q, 0) <= 0) empty FROM s_store
    LEFT JOIN positions USING (f, c, s) WHERE s_store.q > 0
    GROUP BY s_store.f, s_store.c) shop USING (f, c)
  LEFT JOIN (SELECT f, c, sum(q) q, sum(q > 0) stores, min(premiere) premiere,
    max(derniere) derniere, max(reception) reception FROM positions
    GROUP BY f, c) pos USING (f, c);
CREATE UNIQUE INDEX total_key ON total (f, c);

CREATE TABLE ranked AS SELECT f, c, ca,
  row_number() OVER by_ca rank, sum(ca) OVER by_ca cumul,
  sum(ca) OVER (PARTITION BY f) whole FROM total
  WINDOW by_ca AS (PARTITION BY f ORDER BY ca DESC, c ROWS UNBOUNDED PRECEDING);
CREATE UNIQUE INDEX ranked_key ON ranked (f, c);

-- The year before: known of all its months where sales begin with them, or
-- earlier.
CREATE TABLE months_before AS
  SELECT printf('%04d%s', substr(m, 1, 4) - 1, substr(m, 5)) m FROM months;
CREATE TABLE b_month AS SELECT f, c, m, sum(q) q, sum(ca) ca FROM sales
  JOIN months_before USING (m) WHERE f IN tested GROUP BY f, c, m;
CREATE TABLE before AS SELECT f, c, sum(q) q, sum(ca) ca FROM b_month
  WHERE (SELECT min(m) FROM sales) <= (SELECT min(m) FROM months_before)
  GROUP BY f, c;
CREATE UNIQUE INDEX before_key ON before (f, c);
INSERT INTO checks SELECT 'the year before is known of most, not of all',
  (SELECT count(*) FROM before) BETWEEN (SELECT count(*) * 6 / 10 FROM a)
    AND (SELECT count(*) - 1 FROM a)
  AND (SELECT count(*) FROM before WHERE ca > 0) > 0;

-- --- the network -----------------------------------------------------------

-- Its months stand one beside the other: JSON turns a record into lines.
CREATE TABLE series AS
  SELECT codeCentrale, month.key month, @MICRO(month.value) / 1000 q
  FROM (SELECT codeCentrale, @NETWORK_JSON json FROM network_csv
    WHERE codeCentrale IN (SELECT centrale FROM a)) record,
    json_each(record.json) month
  WHERE month.value <> '';
CREATE INDEX series_code ON series (codeCentrale, month);
-- The year that ends with the newest month is shown.
DELETE FROM series WHERE
  substr(month, 1, 4) * 12 + substr(month, 6) <= -12 + (
    SELECT max(substr(newest.month, 1, 4) * 12 + substr(newest.month, 6))
    FROM series newest WHERE newest.codeCentrale = series.codeCentrale);

CREATE TABLE n AS SELECT codeCentrale,
  @MICRO(caReseau) / 10000 ca, @MICRO(qteReseau) / 1000 q,
  nbMagasinsReseau + 0 stores,
  CASE WHEN margePctReseau <> '' THEN @MICRO(margePctReseau) END margin,
  fetchedAt,
  EXISTS (SELECT 1 FROM series
    WHERE series.codeCentrale = network_csv.codeCentrale) has_series
  FROM network_csv;
CREATE UNIQUE INDEX n_code ON n (codeCentrale);

-- Where it does not start above 0, `size` is in the place of its first value:
-- the mean of the quantities without their signs.
-- Least squares over these months, x = 0, 1, ... With n values, S their sum
-- and N = n * sum(x * y) - sum(x) * S, the line goes from its first value by
-- 12 * N / (n * (n + 1) * S - 6 * N) of it.
CREATE TABLE fit AS
  SELECT codeCentrale, n, 12 * slope top,
    n * (n + 1) * total - 6 * slope bottom, n * (n + 1) * sizes size
  FROM (SELECT codeCentrale, count(*) n, sum(q) total, sum(abs(q)) sizes,
    count(*) * sum(x * q) - sum(x) * sum(q) slope
    FROM (SELECT codeCentrale, q,
        row_number() OVER (PARTITION BY codeCentrale ORDER BY month) - 1 x
      FROM series)
    GROUP BY codeCentrale);

-- --- what is expected ------------------------------------------------------

CREATE TABLE expected (f TEXT, c TEXT, path TEXT, value TEXT);

-- Quotients, each `top / bottom`, rounded half away from zero to millionths.
CREATE TABLE quotient (f TEXT, c TEXT, path TEXT, top INTEGER, bottom INTEGER);
INSERT INTO quotient SELECT f, c, 'tauxMarge', ma, ca FROM total;
INSERT INTO quotient SELECT f, c, 'prixMoyenVente', ca * 10, q FROM total;
INSERT INTO quotient SELECT f, c, 'partCa', ca, whole FROM ranked;
INSERT INTO quotient SELECT f, c, 'cumulCaPct', cumul, whole FROM ranked;
INSERT INTO quotient SELECT f, c, 'caParMagasin', ca, 100 * stores FROM total;
INSERT INTO quotient SELECT f, c, 'moyenneMensuelle', q, 12000 FROM total;
INSERT INTO quotient SELECT f, c, 'evolutionQte', after - before, before
  FROM total;
INSERT INTO quotient SELECT f, c, 'evolutionCaN1', total.ca - before.ca,
  CASE WHEN before.ca > 0 THEN before.ca END
  FROM total LEFT JOIN before USING (f, c);
INSERT INTO quotient SELECT f, c, 'evolutionQteN1', total.q - before.q,
  CASE WHEN before.q > 0 THEN before.q END
  FROM total LEFT JOIN before USING (f, c);
INSERT INTO quotient SELECT f, c, 'couvertureJours', stock * 365,
  CASE WHEN q > 0 THEN q END FROM total;
INSERT INTO quotient SELECT f, c, 'rotation', q * months,
  CASE WHEN kept > 0 THEN kept END FROM total;
INSERT INTO quotient SELECT f, c, 'presenceReseauPct', stores, 270
  FROM a LEFT JOIN n ON centrale = codeCentrale;
INSERT INTO quotient SELECT f, c, 'caParMagasinReseau', ca, 100 * stores
  FROM a LEFT JOIN n ON centrale = codeCentrale;
INSERT INTO quotient SELECT f, c, 'network.caParMagasinReseau', ca,
  100 * stores FROM a JOIN n ON centrale = codeCentrale;
INSERT INTO quotient SELECT f, c, 'trend.pct', top,
  CASE WHEN n >= 2 AND bottom > 0 THEN bottom END
  FROM a JOIN fit ON centrale = codeCentrale;
INSERT INTO quotient SELECT f, c, 'priceWithoutTax', vente * 10, 1000 + tva
  FROM a;

CREATE TABLE ratio AS SELECT f, c, path,
  CASE WHEN top IS NULL OR coalesce(bottom, 0) = 0 THEN NULL ELSE
    (CASE WHEN (top < 0) <> (bottom < 0) THEN -1 ELSE 1 END) *
    (abs(top) / abs(bottom) * 1000000 +
      (abs(top) % abs(bottom) * 2000000 + abs(bottom)) / (2 * abs(bottom)))
  END v FROM quotient;
CREATE UNIQUE INDEX ratio_key ON ratio (path, f, c);
INSERT INTO checks SELECT 'no sum has left the whole numbers',
  NOT EXISTS (SELECT 1 FROM ratio WHERE typeof(v) = 'real')
  AND NOT EXISTS (SELECT 1 FROM fit WHERE typeof(bottom) = 'real');

-- Numbers in millionths.
CREATE TABLE number (f TEXT, c TEXT, path TEXT, v INTEGER);
INSERT INTO number SELECT * FROM ratio WHERE path <> 'priceWithoutTax';
INSERT INTO number SELECT f, c, 'margeUnitaire', v - achat * 10000
  FROM ratio JOIN a USING (f, c) WHERE path = 'priceWithoutTax';
INSERT INTO number SELECT f, c, 'ecartMargeReseau', v - margin
  FROM ratio JOIN a USING (f, c) LEFT JOIN n ON centrale = codeCentrale
  WHERE path = 'tauxMarge';
INSERT INTO number SELECT f, c, 'totalCa', ca * 10000 FROM total;
INSERT INTO number SELECT f, c, 'totalQuantite', q * 1000 FROM total;
INSERT INTO number SELECT f, c, 'totalMarge', ma * 10000 FROM total;
INSERT INTO number SELECT f, c, 'totalCaN1', before.ca * 10000
  FROM a LEFT JOIN before USING (f, c);
INSERT INTO number SELECT f, c, 'totalQuantiteN1', before.q * 1000
  FROM a LEFT JOIN before USING (f, c);
INSERT INTO number SELECT f, c, 'totalReceptions', received * 1000 FROM total;
INSERT INTO number SELECT f, c, 'rangCa', rank * 1000000 FROM ranked;
INSERT INTO number SELECT f, c, 'nbMagasins', stores * 1000000 FROM total;
INSERT INTO number SELECT f, c, 'nbRuptures', empty * 1000000 FROM total;
INSERT INTO number SELECT f, c, 'nbMagasinsStock', stocked * 1000000
  FROM total;
INSERT INTO number SELECT f, c, 'moisVendus', sold * 1000000 FROM total;
INSERT INTO number SELECT f, c, 'stockActuel', stock * 1000 FROM total;
INSERT INTO number SELECT f, c, 'stockValeur', stock * achat * 10
  FROM total JOIN a USING (f, c);
INSERT INTO number SELECT f, c, 'nbJoursDerniereVente', CAST(max(0,
  julianday((SELECT max(last_day) FROM months)) - julianday(derniere))
  AS INTEGER) * 1000000 FROM total;
INSERT INTO number SELECT fournisseur, codein, 'pcb',
  CASE WHEN pcb <> '' THEN @MICRO(pcb) END FROM articles
  WHERE fournisseur IN tested;
INSERT INTO number SELECT f, c, 'prixAchat', achat * 10000 FROM a;
INSERT INTO number SELECT f, c, 'prixVente', vente * 10000 FROM a;
INSERT INTO number SELECT f, c, 'tva', tva * 100000 FROM a;
INSERT INTO number SELECT f, c, 'caReseau', ca * 10000
  FROM a LEFT JOIN n ON centrale = codeCentrale;
INSERT INTO number SELECT f, c, 'qteReseau', q * 1000
  FROM a LEFT JOIN n ON centrale = codeCentrale;
INSERT INTO number SELECT f, c, 'nbMagasinsReseau', stores * 1000000
  FROM a LEFT JOIN n ON centrale = codeCentrale;
INSERT INTO number SELECT f, c, 'margePctReseau', margin
  FROM a LEFT JOIN n ON centrale = codeCentrale;
INSERT INTO number SELECT f, c, 'network.' || path, v FROM number
  JOIN a USING (f, c) JOIN n ON centrale = codeCentrale
  WHERE path IN ('caReseau', 'qteReseau', 'nbMagasinsReseau',
    'margePctReseau');
INSERT INTO number SELECT f, c, 'network.qteByMonth.' || month, series.q * 1000
  FROM a JOIN series ON centrale = codeCentrale;
INSERT INTO number SELECT f, c, 'qteReseauByMonth.' || month, series.q * 1000
  FROM a JOIN series ON centrale = codeCentrale;
INSERT INTO number SELECT f, c, 'trend.monthsUsed', n * 1000000
  FROM a JOIN fit ON centrale = codeCentrale;
INSERT INTO number SELECT f, c, 'sales12m.' || m, q * 1000 FROM s_month;
INSERT INTO number SELECT f, c, 'sales12mN1.' || m, q * 1000 FROM b_month;
INSERT INTO number SELECT f, c, 'stock12m.' || m, q * 1000 FROM k_month;
INSERT INTO number SELECT f, c, 'receptions12m.' || m, q * 1000 FROM r_month;
INSERT INTO number SELECT f, c, 'sales12mByStore.' || s || '.' || m, q * 1000
  FROM s12;
INSERT INTO number SELECT f, c, 'stock12mByStore.' || s || '.' || m, q * 1000
  FROM k12;
INSERT INTO number SELECT f, c, 'receptions12mByStore.' || s || '.' || m,
  q * 1000 FROM r12;
INSERT INTO expected SELECT f, c, path, coalesce('n:' || v, 'null')
  FROM number;

-- Texts; an empty one is null.
CREATE TABLE words (f TEXT, c TEXT, path TEXT, v TEXT);
INSERT INTO words SELECT f, c, field.key, field.value
  FROM (SELECT fournisseur f, codein c, json_object('codein', codein,
      'codeFournisseur', fournisseur, 'libelle1', libelle1,
      'libelle2', libelle2, 'marque', marque, 'gtin', gtin,
      'reference', reference, 'codeCentrale', codeCentrale,
      'code1', substr(code3, 1, 2), 'code2', substr(code3, 1, 4),
      'code3', code3, 'gammeAValider', '') json
    FROM articles WHERE fournisseur IN tested) record,
    json_each(record.json) field;
INSERT INTO words SELECT f, c, 'nomFournisseur', nom
  FROM a JOIN suppliers ON code = f;
INSERT INTO words SELECT f, c, 'libelleCode' || level.value, libelle
  FROM a, json_each('[1,2,3]') level
  LEFT JOIN nomenclature ON code = substr(code3, 1, 2 * level.value)
    AND length(code3) = 6;
INSERT INTO words SELECT f, c, name.value, gamme
  FROM a, json_each('["codeGamme","codeGammeServeur","codeGammeInit"]') name
  LEFT JOIN gammes ON fournisseur = f AND codein = c;
INSERT INTO words SELECT f, c, 'classeAbc', CASE WHEN whole <= 0 THEN NULL
  WHEN (cumul - ca) * 100 < whole * 80 THEN 'A'
  WHEN (cumul - ca) * 100 < whole * 95 THEN 'B' ELSE 'C' END FROM ranked;
INSERT INTO words SELECT f, c, 'premiereVente', premiere FROM total;
INSERT INTO words SELECT f, c, 'derniereVente', derniere FROM total;
INSERT INTO words SELECT f, c, 'derniereReception', reception FROM total;
INSERT INTO words SELECT f, c, 'network.fetchedAt', fetchedAt
  FROM a JOIN n ON centrale = codeCentrale;
INSERT INTO words SELECT f, c, 'trend.direction', CASE
  WHEN n < 2 OR (bottom <= 0 AND size = 0) THEN 'flat'
  WHEN top * 100 > CASE WHEN bottom > 0 THEN bottom ELSE size END * 8 THEN 'up'
  WHEN top * 100 < CASE WHEN bottom > 0 THEN bottom ELSE size END * -8
  THEN 'down' ELSE 'flat' END
  FROM a JOIN fit ON centrale = codeCentrale;
INSERT INTO words SELECT f, c, 'trend.label', CASE
  WHEN words.v = 'flat' THEN 'stable'
  WHEN number.v IS NULL AND words.v = 'up' THEN 'en hausse'
  WHEN number.v IS NULL THEN 'en baisse'
  WHEN words.v = 'up' THEN '+' ELSE char(0x2212) END ||
  CASE WHEN words.v = 'flat' OR number.v IS NULL THEN ''
    ELSE ((abs(number.v) + 5000) / 10000) || ' %' END
  FROM words JOIN number USING (f, c)
  WHERE words.path = 'trend.direction' AND number.path = 'trend.pct';
INSERT INTO expected SELECT f, c, path,
  CASE WHEN coalesce(v, '') = '' THEN 'null' ELSE 't:' || v END FROM words;

-- Maps that are there, empty or not, and those that are null.
INSERT INTO expected SELECT f, c, name.value, 'object' FROM a, json_each(
  '["sales12m","stock12m","receptions12m","sales12mN1","sales12mByStore",
    "stock12mByStore","receptions12mByStore"]') name;
INSERT INTO expected SELECT DISTINCT f, c, 'sales12mByStore.' || s, 'object'
  FROM s12;
INSERT INTO expected SELECT DISTINCT f, c, 'stock12mByStore.' || s, 'object'
  FROM k12;
INSERT INTO expected SELECT DISTINCT f, c, 'receptions12mByStore.' || s,
  'object' FROM r12;
INSERT INTO expected SELECT f, c, 'network',
  CASE WHEN codeCentrale IS NULL THEN 'null' ELSE 'object' END
  FROM a LEFT JOIN n ON centrale = codeCentrale;
INSERT INTO expected SELECT f, c, 'network.qteByMonth',
  CASE WHEN has_series THEN 'object' ELSE 'null' END
  FROM a JOIN n ON centrale = codeCentrale;
INSERT INTO expected SELECT f, c, name.value,
  CASE WHEN has_series THEN 'object' ELSE 'null' END
  FROM a, json_each('["trend","qteReseauByMonth"]') name
  LEFT JOIN n ON centrale = codeCentrale;

-- Classes: the path is level, code, field; the article's place is empty.
CREATE TABLE class AS SELECT f, level.value niveau,
  substr(code3, 1, 2 * level.value) code, count(*) articles, sum(ca) ca,
  sum(q) q FROM a JOIN total USING (f, c), json_each('[1,2,3]') level
  WHERE code3 IS NOT NULL GROUP BY 1, 2, 3;
CREATE TABLE class_value AS
  SELECT f, niveau, code, 'code' field, 't:' || code value FROM class
  UNION ALL SELECT f, niveau, code, 'libelle',
    coalesce('t:' || libelle, 'null')
    FROM class LEFT JOIN nomenclature USING (code)
  UNION ALL SELECT f, niveau, code, 'nbArticles', 'n:' || (articles * 1000000)
    FROM class
  UNION ALL SELECT f, niveau, code, 'totalCa', 'n:' || (ca * 10000) FROM class
  UNION ALL SELECT f, niveau, code, 'totalQuantite', 'n:' || (q * 1000)
    FROM class;
INSERT INTO expected SELECT f, '', niveau || '.' || code || '.' || field, value
  FROM class_value;

-- --- what is there ---------------------------------------------------------

CREATE TABLE actual (f TEXT, c TEXT, path TEXT, value TEXT);
INSERT INTO actual SELECT rows.f, json_extract(line, '$.codein'),
  substr(replace(leaf.fullkey, '"', ''), 3),
  CASE leaf.type WHEN 'integer' THEN 'n:' || (leaf.atom * 1000000)
    WHEN 'real' THEN 'n:' || CAST(round(leaf.atom * 1000000) AS INTEGER)
    WHEN 'text' THEN 't:' || leaf.atom ELSE leaf.type END
  FROM rows, json_tree(rows.line) leaf WHERE leaf.fullkey <> '$';
INSERT INTO actual SELECT tree.f, '',
  niveau || '.' || json_extract(line, '$.code') || '.' || leaf.key,
  CASE leaf.type WHEN 'integer' THEN 'n:' || (leaf.atom * 1000000)
    WHEN 'real' THEN 'n:' || CAST(round(leaf.atom * 1000000) AS INTEGER)
    WHEN 'text' THEN 't:' || leaf.atom ELSE leaf.type END
  FROM tree, json_each(tree.line) leaf;

-- An instant may be written with or without its milliseconds.
UPDATE expected SET value = 't:' ||
  strftime('%Y-%m-%dT%H:%M:%f', substr(value, 3))
  WHERE path = 'network.fetchedAt' AND value <> 'null';
UPDATE actual SET value = 't:' ||
  strftime('%Y-%m-%dT%H:%M:%f', substr(value, 3))
  WHERE path = 'network.fetchedAt' AND value <> 'null';

-- Rows in the order of their rank, each once.
INSERT INTO checks SELECT 'each row is there once, by turnover',
  (SELECT count(*) FROM rows) = (SELECT count(*) FROM a)
  AND NOT EXISTS (SELECT 1 FROM (SELECT rows.f, json_extract(line, '$.codein')
      c, row_number() OVER (PARTITION BY rows.f ORDER BY rows.rowid) place
      FROM rows) dumped
    LEFT JOIN ranked USING (f, c) WHERE rank IS NOT place);
INSERT INTO checks SELECT 'at least five suppliers are compared',
  (SELECT count(*) FROM tested) >= 5;

-- --- the comparison --------------------------------------------------------

CREATE INDEX actual_key ON actual (f, c, path);
CREATE INDEX expected_key ON expected (f, c, path);
CREATE VIEW difference AS
  SELECT f, c, path, expected.value wanted, actual.value got
    FROM expected LEFT JOIN actual USING (f, c, path)
    WHERE actual.value IS NOT expected.value
  UNION ALL SELECT f, c, path, NULL, actual.value FROM actual
    WHERE NOT EXISTS (SELECT 1 FROM expected WHERE expected.f = actual.f
      AND expected.c = actual.c AND expected.path = actual.path);
CREATE TABLE result AS SELECT * FROM difference;

INSERT INTO checks SELECT 'nothing is said twice',
  (SELECT count(*) FROM actual) =
  (SELECT count(*) FROM (SELECT DISTINCT f, c, path FROM actual));
INSERT INTO checks SELECT 'all kinds of values are compared',
  (SELECT count(*) FROM expected) > 100 * (SELECT count(*) FROM a)
  AND EXISTS (SELECT 1 FROM expected WHERE value = 't:up')
  AND EXISTS (SELECT 1 FROM expected WHERE value = 't:down')
  AND EXISTS (SELECT 1 FROM expected WHERE value = 't:flat')
  AND EXISTS (SELECT 1 FROM expected WHERE path = 'network'
    AND value = 'null')
  AND EXISTS (SELECT 1 FROM expected WHERE c = '' AND path LIKE '1.%.libelle'
    AND value = 'null')
  AND EXISTS (SELECT 1 FROM expected WHERE c = '' AND path LIKE '2.%.libelle'
    AND value = 'null');

SELECT 'different: ' || f || ' ' || c || ' ' || path || ': wanted '
  || coalesce(wanted, 'nothing') || ', got ' || coalesce(got, 'nothing')
  FROM result LIMIT 20;

-- Would it notice? One value in a thousand is altered by one millionth.
UPDATE actual SET value = 'n:' || (substr(value, 3) + 1)
  WHERE rowid % 1000 = 1 AND value LIKE 'n:%';
INSERT INTO checks SELECT 'an altered value is noticed', changes() > 0
  AND (SELECT count(*) FROM difference) >= changes()
  AND (SELECT count(*) FROM difference) > (SELECT count(*) FROM result);

SELECT 'not ok: ' || name FROM checks WHERE NOT ok;
SELECT (SELECT count(*) FROM tested) || ' suppliers, '
  || (SELECT count(*) FROM a) || ' articles, '
  || (SELECT count(*) FROM expected) || ' comparisons, '
  || (SELECT count(*) FROM result) || ' differences';
SELECT ((SELECT count(*) FROM expected) - (SELECT count(*) FROM result)
    + (SELECT count(*) FROM checks WHERE ok)) || ' passed, '
  || ((SELECT count(*) FROM result)
    + (SELECT count(*) FROM checks WHERE NOT ok)) || ' failed';
