/*
 * schema: what is stored, byte by byte. READ FIRST. This header describes the
 * live data, facts and the catalogue, and names those of the other files.
 *
 * A data directory holds
 *
 *	store         one line of text, written last: makes the folder a data
 *	              directory
 *	live.mdb      the data of imports: which facts are current, network
 *	              metrics, server range codes
 *	facts/G.mdb   the base file of one import's facts, immutable, G its
 *	              generation: what is not by supplier
 *	facts/G-XX.mdb
 *	              share XX (hex) of its suppliers, immutable; a merge writes
 *	              the shares that it changes, and refers to older ones. Facts
 *	              of one share are in the base file
 *	catalog.mdb   which snapshot of each supplier is current or retired
 *	snapshots/S/G.mdb
 *	              supplier S as computed in generation G, immutable:
 *	              snapshot/snapfile.h
 *	snapshots/S/G.rows, G.pages, G.zstd
 *	              the same rows packed, made from G.mdb at any time:
 *	              snapshot/packed_rows.h
 *	state.mdb     keys, users, sessions, proposals, validated changes, the
 *	              audit trail, hooks: state/state.h
 *	trail/MONTH-N.part
 *	              the audit trail's older entries, from number N on, immutable:
 *	              state/trail_part.h
 *	files/SHA     files that the nodes of a cluster give each other, some of
 *	              them links to those above: store/files.h
 *	words.idx     all suppliers' words, for searches across them; can be
 *	              made from the snapshots at any time:
 *	              search/word_index.h
 *	locks/        empty files to flock: store/store_locks.c
 *	*.tmp         being written; what a crash leaves is swept up
 *
 * The .mdb files are separate LMDB environments, so that a long import never
 * delays the deposit of a proposal. Immutable files are written aside, synced,
 * and renamed; the commit that points to a file makes it visible.
 *
 * Conventions: integers in keys are big-endian (they sort), integers in
 * values little-endian. "packed" is pack.h's forms. "key text" below is a
 * code's bytes as given, 1 to SCHEMA_CODE_MAX of them, no NUL. S is the
 * supplier's code with all but letters, digits, '-' and '_' as %XX; G is 16
 * lower-case hex digits.
 *
 * Values that can be overwritten (live, catalog, state) end with a checksum:
 * each value below is followed by a u32, the CRC-32 of zlib over the key's
 * bytes and then the value's. kv_keep_sums() makes common/kv add, compare and
 * hide it. Immutable files have checksums of the whole or of blocks.
 *
 *	Example: in live's gammes, supplier S has article A1 in range A:
 *	  key 53 00 41 31 | value 41 | sum 45 D3 4F 0F
 *
 * The record "schema" tells whether an environment has checksums. In version 2
 * it is:
 *	  value 02 00 00 00 | sum 32 B9 AB FB
 * In version 1 it is u64 1, 01 00 00 00 00 00 00 00, and there are no
 * checksums: such an environment keeps this form for good. A version 1 program
 * reads version 2's eight bytes as one u64, an unknown version, and refuses.
 *
 * A generation is a 64-bit number, larger than any before it: the clock in
 * microseconds, or the last one plus 1, whichever is larger. So a store that
 * was made again or restored repeats no generation, unless its clock was set
 * back by more than the time since; an ETag may carry one.
 *
 * ---- live.mdb: written by gridctl import, network, gammes; read by all ------
 *
 *	meta      "schema"    u32 SCHEMA_VERSION, or SCHEMA_LIVE_SHARES since an
 *	                      import of facts of version 3
 *	          "log"       the entry of a shared log that this environment
 *	                      has reached; absent on one machine
 *	                      (store/write_log.h); in live, catalog and state
 *	          "facts"     u64 generation of the current facts file
 *	                      (absent: nothing imported yet)
 *	          "network"   u64 generation of the last network import
 *	          "since"     u64, u64: "facts" and "network" as they were when
 *	                      the next records were written; where the two
 *	                      have other values now, those records do not count
 *	          "since" 00 supplier -> u64, u64: the generation of the facts
 *	                      that last changed the supplier's rows, and of the
 *	                      network import that last changed a product it
 *	                      lists. All ones, or no record, stand for the
 *	                      present value of "facts" or "network"
 *	          "edition"   u64 number and 32 bytes SHA-256 of the edition of a
 *	                      cluster that these data are of (upkeep/edition.h);
 *	                      goes with any other change of them
 *	          "apart"     u64 generation of the last facts that were imported
 *	                      here before the first edition came, or of an
 *	                      edition that a loss of the log undid: what was
 *	                      computed from these or earlier ones counts as
 *	                      changed, whatever "since" says
 *	network   codeCentrale -> one product's metrics, packed:
 *	            decimal caReseau, qteReseau;
 *	            unsigned nbMagasinsReseau + 1, 0 for none;
 *	            decimal caParMagasinReseau, margePctReseau;
 *	            unsigned fetchedAt in ms, + 1, 0 for none;
 *	            unsigned count of months, then for each, in order,
 *	            unsigned month (the first), or months since the one before,
 *	            and decimal quantity
 *	gammes    supplier 00 codein -> one letter of A B C Y Z
 *	gammegen  supplier -> u64 generation of the last change of its gammes
 *
 * ---- facts: written by gridctl import; read by compute, gridapi --------------
 *
 * A supplier is in share source_share_of(): source_product_hash() of its code,
 * shifted right by 16, modulo the number of shares. All files have all of these
 * tables, some of them empty. In the base file facts/G.mdb:
 *
 *	meta      "schema"    u64 SCHEMA_FACTS_VERSION
 *	          "header"    packed: unsigned newest month; unsigned counts of
 *	                      suppliers, stores, classification entries,
 *	                      articles, position, sales, stock and reception
 *	                      records, of all shares together; unsigned checksum
 *	                      of the tables stores and classes (source_pair_crc)
 *	          "since"     packed: unsigned oldest month with sales, 0 for
 *	                      none or not known; absent in facts of before
 *	          "common"    SCHEMA_DIGEST bytes, of what all suppliers' rows
 *	                      share: the stores' codes and these two months
 *	          "shares"    packed: unsigned number of shares, 1 to
 *	                      SOURCE_SHARES_MAX; then for each unsigned
 *	                      generation of its file, 0 for this one's, and
 *	                      unsigned checksum of its record "share"
 *	          These records but "common" end with an unsigned checksum,
 *	          source_pair_crc() of the value without it.
 *	stores    u16 number -> packed: text code, text name; numbers follow the
 *	          order of the codes, so maps come out in it
 *	classes   classification code (2, 4 or 6 digits) -> text label
 *
 * In a share facts/G-XX.mdb, or the base file of facts of one share:
 *
 *	meta      "schema"    u64 SCHEMA_FACTS_VERSION
 *	          "share"     packed: unsigned number from 0, number of shares,
 *	                      stores, suppliers, articles; unsigned checksums of
 *	                      the tables suppliers and where; and, as above, one
 *	                      of the record
 *	suppliers supplier -> packed: unsigned article count, text name, text
 *	          digest, SCHEMA_DIGEST bytes that change with the supplier's
 *	          rows (intake_marks.c), and text of u64, in order:
 *	          source_product_hash() of the network's products that its
 *	          articles name
 *	where     codein 00 supplier -> nothing: which suppliers list an article
 *	articles  supplier 00 u32 block number -> a block of articles in the
 *	          order of their codein bytes, about SCHEMA_BLOCK bytes:
 *	            u32 zlib's crc32 of what follows, then for each article
 *	            u32 length of what follows, then packed
 *	              text codein, libelle1, libelle2, marque, gtin, reference,
 *	                codeCentrale; unsigned code3 + 1, 0 for none;
 *	              decimal pcb, prixAchat, prixVente, tva
 *	              positions, sales, stock, receptions: each a series
 *
 *	A series is unsigned byte length, then its stores in order:
 *	  unsigned store number, unsigned count of records, and the records:
 *	    sales       month, decimal quantite, ca, marge
 *	    stock       month, decimal stock
 *	    receptions  month, decimal quantite
 *	    positions   (always one) decimal stock, then premiereVente,
 *	                derniereVente, derniereReception: unsigned day (since
 *	                0001-01-01, which is 0) + 1, 0 for none
 *	  where a month is unsigned: the first of a store as it is, the next
 *	  ones as months since the one before, never 0.
 *
 *	Example: of 4 shares, supplier "F1" is in share 3.
 *
 *	Example: store 2 sold 3 for 10.50 with margin 2 in 202501 (month 24300):
 *	  length 09 | store 02 | count 01 | month EC BD 01 | 3 is 2B |
 *	  10.50 is C0 0B | 2 is 1D
 *
 * Version 2 has one file, facts/G.mdb, with all of these tables, no "shares" and
 * no "share"; the checksum in its "header" is that of suppliers, stores, classes
 * and where, in this order. The file of a merge has the articles of the suppliers
 * that the merge brought, and refers to files of imports before for the others:
 *
 *	meta      "parts"     packed: unsigned generation of the file that has
 *	                      the listings (where), 0 for this one; unsigned
 *	                      count, then the generations of the files that this
 *	                      one refers to, with the same stores; and a checksum
 *	                      as above
 *	suppliers one that the merge did not bring has, behind the rest, unsigned
 *	          generation of the file with its articles
 *
 * Version 1 is version 2 without digests and products, and without parts.
 *
 * ---- catalog.mdb: written by compute, prune, index, gridapi; read by all -----
 *
 *	meta      "schema"    u32 SCHEMA_VERSION
 *	          "words"     u64 generation of the newest words.idx, if any
 *	          "damaged" 00 supplier -> u64 generation, lost to damage
 *	          "format" 00 supplier -> packed: unsigned generation, unsigned
 *	                      version of its snapshot's format; absent where a
 *	                      program of before has computed it
 *	                      (snapshot/catalog_format.h)
 *	current   supplier -> packed: unsigned generation, computedAt ms, rows,
 *	            facts, network and gamme generation it was made from,
 *	            bytes of the file
 *	retired   supplier 00 u64 generation -> u64 ms when it was replaced;
 *	          its file is unlinked when the grace time has passed
 *
 * ---- snapshots/S/G.mdb: written by compute; see snapfile.h -------------------
 * ---- state.mdb: written by gridapi and gridctl; see state.h ------------------
 */
#pragma once

/*
 * The version written to live, catalog and state, and the older one that is
 * read too.
 */
#define SCHEMA_VERSION 2
#define SCHEMA_VERSION_PLAIN 1

/* The state's, once the trail has files: an older program would not find them. */
#define SCHEMA_STATE_PARTS 3

/*
 * The live data's, once the facts are of version 3: an older program would not
 * find the shares, and its backup would leave them out.
 */
#define SCHEMA_LIVE_SHARES 3

/*
 * The version of facts files that is written. Version 2, all suppliers in one
 * file, and version 1, which does not tell what changed, are read too.
 */
#define SCHEMA_FACTS_VERSION 3
#define SCHEMA_FACTS_VERSION_WHOLE 2
#define SCHEMA_FACTS_VERSION_BARE 1

/* Bytes of a supplier's digest. */
#define SCHEMA_DIGEST 16

/* Longest code (supplier, article, store, central): bytes. */
#define SCHEMA_CODE_MAX 64

/* Longest other text of an article: bytes. */
#define SCHEMA_TEXT_MAX 1024

/* Target size of a block of articles in the facts, in bytes. */
#define SCHEMA_BLOCK (256 * 1024)

/* Imports refuse months outside 1990-01 .. 2100-12. */
#define SCHEMA_MONTH_MIN (1990 * 12)
#define SCHEMA_MONTH_MAX (2100 * 12 + 11)

#define SCHEMA_STORES_MAX 4096
#define SCHEMA_MONTHS 12

/* The number of stores in the retail network, for presenceReseauPct. */
#define SCHEMA_NETWORK_STORES 270

/* Days from 0001-01-01 to 1970-01-01, so that stored days are unsigned. */
#define SCHEMA_DAY_BASE 719162
