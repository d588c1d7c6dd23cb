#include "lmdb-schema/compute/rowtext.h"

#include <assert.h>

#include "lmdb-schema/row.h"

uint32_t
rowtext_code(uint32_t code3, unsigned level)
{
	static const uint32_t divisors[ROWTEXT_LEVELS] = {10000, 100, 1};

	assert(level >= 1 && level <= ROWTEXT_LEVELS);
	return code3 / divisors[level - 1];
}

/* Two digits a level: 000005. */
static struct span
code_text(const struct rowtext *row, unsigned level, char text[])
{
	uint32_t code = rowtext_code(row->article->code3, level);

	if (row->article->code3 == SOURCE_NO_CODE3)
		return SPAN("");
	for (unsigned i = level * 2; i > 0; i--) {
		text[i - 1] = (char)('0' + code % 10);
		code /= 10;
	}
	return span_make(text, level * 2);
}

static struct span
label(const struct rowtext *row, unsigned level)
{
	uint32_t code3 = row->article->code3;

	if (code3 == SOURCE_NO_CODE3)
		return SPAN("");
	return row->labels[level - 1][rowtext_code(code3, level)];
}

struct span
rowtext_of(
    const struct rowtext *row, unsigned column, char code[ROWTEXT_CODE_MAX])
{
	const struct source_article *article = row->article;

	switch (column) {
	case COL_codein:
		return article->codein;
	case COL_codeFournisseur:
		return row->supplier;
	case COL_nomFournisseur:
		return row->name;
	case COL_libelle1:
		return article->libelle1;
	case COL_libelle2:
		return article->libelle2;
	case COL_marque:
		return article->marque;
	case COL_gtin:
		return article->gtin;
	case COL_reference:
		return article->reference;
	case COL_codeCentrale:
		return article->code_centrale;
	case COL_code1:
		return code_text(row, 1, code);
	case COL_libelleCode1:
		return label(row, 1);
	case COL_code2:
		return code_text(row, 2, code);
	case COL_libelleCode2:
		return label(row, 2);
	case COL_code3:
		return code_text(row, 3, code);
	case COL_libelleCode3:
		return label(row, 3);
	case COL_codeGammeServeur:
	case COL_codeGamme:
	case COL_codeGammeInit:
		return row_gamme_text(row->gamme);
	case COL_classeAbc:
		code[0] = row->abc; /* `row` may be gone before the text */
		return span_make(code, row->abc == '\0' ? 0 : 1);
	default:
		/* A snapshot has no pending range. */
		assert(column == COL_gammeAValider);
		return SPAN("");
	}
}
