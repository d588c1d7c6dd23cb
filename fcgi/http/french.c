#include "fcgi/http/french.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/count.h"

/* Conversions stand in the same order in both. */
static const struct row {
	const char *english, *french;
} rows[] = {
    {"This request comes from another site's page.",
	"Cette requête vient de la page d'un autre site."},
    {"This key may make %lld requests a minute: wait %lld s.",
	"Cette clé permet %lld requêtes par minute : attendre %lld s."},
    {"An API key is needed, in the header X-API-Key or as Authorization: "
     "Bearer%s; this one is missing, invalid, expired or revoked.",
	"Il faut une clé d'API, dans l'en-tête X-API-Key ou comme "
	"Authorization: Bearer%s ; celle-ci est absente, incorrecte, expirée "
	"ou révoquée."},
    {", or a session", ", ou une session"},
    {"The body is too large: %lld bytes are the most.",
	"Le corps est trop grand : %lld octets au plus."},
    {"The body must be JSON, with Content-Type: application/json.",
	"Le corps doit être du JSON, avec Content-Type: application/json."},
    {"There is no memory for this body: try again.",
	"La mémoire manque pour ce corps : réessayer."},
    {"The body is not valid: ", "Le corps n'est pas valable : "},
    {"The body is not valid: %zu issue, see details.issues.",
	"Le corps n'est pas valable : %zu faute, voir details.issues."},
    {"The body is not valid: %zu issues, see details.issues.",
	"Le corps n'est pas valable : %zu fautes, voir details.issues."},
    {"groups makes too many groups: take fewer or coarser ones, or narrow the "
     "rows by filters.",
	"groups fait trop de groupes : en prendre moins ou de plus grossiers, "
	"ou restreindre les lignes par des filtres."},
    {"This key may only read: proposing a range needs one of scope propose.",
	"Cette clé ne permet que la lecture : proposer une gamme demande une "
	"clé de portée propose."},
    {"No supplier lists this article.", "Aucun fournisseur n'a cet article."},
    {"There is no such article.", "Cet article n'existe pas."},
    {"This supplier has no such article.",
	"Ce fournisseur n'a pas cet article."},
    {"This article was never computed: name the supplier of "
     "details.fournisseurs in fournisseur.",
	"Cet article n'a jamais été calculé : nommer dans fournisseur celui de "
	"details.fournisseurs."},
    {"Several suppliers list this article: name one of details.fournisseurs in "
     "fournisseur.",
	"Plusieurs fournisseurs ont cet article : nommer dans fournisseur l'un "
	"de details.fournisseurs."},
    {"This article is in no computed snapshot: name one of "
     "details.fournisseurs in fournisseur, and it is computed.",
	"Cet article n'est dans aucun instantané calculé : nommer dans "
	"fournisseur l'un de details.fournisseurs, qui sera calculé."},
    {"What is kept stands at /app/kept/mine or /app/kept/shared.",
	"Ce qui est gardé se trouve à /app/kept/mine ou /app/kept/shared."},
    {"The name of what is kept has 1 to 150 bytes without control characters.",
	"Le nom de ce qui est gardé a de 1 à 150 octets, sans caractère de "
	"contrôle."},
    {"Nothing is kept by this name; GET /app/kept lists what is.",
	"Rien n'est gardé sous ce nom ; GET /app/kept liste ce qui l'est."},
    {"It was changed meanwhile: read it, and ask again with its newest "
     "version.",
	"Modifié entre-temps : le lire, puis redemander avec sa dernière "
	"version."},
    {"There is no key with this id; GET /app/keys lists them.",
	"Aucune clé n'a cet identifiant ; GET /app/keys les liste."},
    {"There is no network data for the central code %.*s (10000 followed by "
     "digits).",
	"Pas de données du réseau pour le code centrale %.*s (10000 suivi de "
	"chiffres)."},
    {"The facts cannot be read: %s",
	"Les données ne peuvent pas être lues : %s"},
    {"The trail has no entry %llu of that time: it comes from a backup, or the "
     "cursor from elsewhere. Begin again without depuis.",
	"Le journal n'a pas d'entrée %llu de cette date : il vient d'une "
	"sauvegarde, ou le curseur vient d'ailleurs. Recommencer sans depuis."},
    {"The entries of the trail from %llu on are in an archive. Ask the "
     "operator "
     "for them, or begin again without depuis, with du=%s.",
	"Les entrées du journal à partir de %llu sont dans une archive. Les "
	"demander à l'exploitant, ou recommencer sans depuis, avec du=%s."},
    {"This supplier does not have every one of these articles: see "
     "details.inconnus. Nothing was saved.",
	"Ce fournisseur n'a pas tous ces articles : voir details.inconnus. "
	"Rien n'a été enregistré."},
    {"This supplier's ranges have changed since that version: look again. "
     "Nothing was done.",
	"Les gammes de ce fournisseur ont changé depuis cette version : "
	"regarder de nouveau. Rien n'a été fait."},
    {"mois=%s is for the rows of one supplier, of /grid; here mois=%s is "
     "possible",
	"mois=%s vaut pour les lignes d'un seul fournisseur, celles de /grid ; "
	"ici mois=%s est possible"},
    {"A month to sort by is for the rows of one supplier, of /grid: each "
     "supplier has its own months",
	"Un mois pour le tri vaut pour les lignes d'un seul fournisseur, "
	"celles de /grid : chaque fournisseur a ses propres mois"},
    {"q has nothing to look for: give a word, or a part of one",
	"q n'a rien à chercher : donner un mot, ou une partie d'un mot"},
    {"This key may see some suppliers only: name one of them in fournisseur; "
     "/fournisseurs lists them.",
	"Cette clé ne voit que certains fournisseurs : en nommer un dans "
	"fournisseur ; /fournisseurs les liste."},
    {"Only a person's session may do this, not an API key.",
	"Seule la session d'une personne le permet, pas une clé d'API."},
    {"Only an API key may do this, not a person's session.",
	"Seule une clé d'API le permet, pas la session d'une personne."},
    {"This session has no password here: the organisation's server that let it "
     "in has it.",
	"Cette session n'a pas de mot de passe ici : il est au serveur de "
	"l'organisation qui l'a ouverte."},
    {"The name of this account cannot be used here: a name is 1 to %d bytes of "
     "text.",
	"Le nom de ce compte ne peut pas servir ici : un nom est un texte de 1 "
	"à %d octets."},
    {"Nobody logs in from outside here: [outside] accept of gridapi.conf is "
     "no.",
	"Personne ne se connecte ici de l'extérieur : [outside] accept de "
	"gridapi.conf est no."},
    {"The organisation's server has named nobody: sign in there first.",
	"Le serveur de l'organisation n'a nommé personne : s'y connecter "
	"d'abord."},
    {"No group of this account may use the Grid screen: [outside] of "
     "gridapi.conf names those that may.",
	"Aucun groupe de ce compte ne donne accès à la grille : [outside] de "
	"gridapi.conf nomme ceux qui le donnent."},
    {"Only an administrator may manage API keys and users.",
	"Seul un administrateur peut gérer les clés d'API et les "
	"utilisateurs."},
    {"This is the last administrator with a password: make another one first. "
     "Nothing was done.",
	"C'est le dernier administrateur qui a un mot de passe : en nommer un "
	"autre d'abord. Rien n'a été fait."},
    {"There is no user of this name; GET /app/users lists them.",
	"Aucun utilisateur n'a ce nom ; GET /app/users les liste."},
    {"One's own password is changed by PUT /app/password, with the present "
     "one.",
	"Son propre mot de passe se change par PUT /app/password, avec "
	"l'actuel."},
    {"This user decides for some suppliers only, and %.*s is none of them; GET "
     "/app/session lists them. Nothing was done.",
	"Cet utilisateur ne décide que pour certains fournisseurs, et %.*s "
	"n'en est pas ; GET /app/session les liste. Rien n'a été fait."},
    {"Only a manager or an administrator may change what all users share; "
     "/app/kept/mine is the user's own.",
	"Seul un responsable ou un administrateur peut modifier ce que tous "
	"partagent ; /app/kept/mine est à l'utilisateur."},
    {"Too many attempts to log in: wait for %lld seconds.",
	"Trop d'essais de connexion : attendre %lld secondes."},
    {"Too many log in at this moment: try again in a second.",
	"Trop de connexions en ce moment : réessayer dans une seconde."},
    {"The name or the password is not right.",
	"Le nom ou le mot de passe n'est pas le bon."},
    {"The session could not be ended (%s): try again.",
	"La session n'a pas pu être terminée (%s) : réessayer."},
    {"depuis goes without filters: a row that leaves a filter would be neither "
     "changed nor gone. Filter what comes, or ask without depuis.",
	"depuis va sans filtre : une ligne qui sort d'un filtre ne serait ni "
	"modifiée ni disparue. Filtrer ce qui vient, ou demander sans depuis."},
    {"The generation that depuis names is not kept any more: fetch all rows, "
     "without depuis.",
	"La génération que nomme depuis n'est plus gardée : reprendre toutes "
	"les lignes, sans depuis."},
    {"X-Grid-Seen is state:NUMBER, as an answer had it.",
	"X-Grid-Seen est state:NOMBRE, comme une réponse l'avait."},
    {"Import %llu of node %s is not here yet.",
	"L'import %llu du nœud %s n'est pas encore ici."},
    {"This node has not yet what X-Grid-Seen names. Nothing was done: repeat "
     "the request, here or at another node.",
	"Ce nœud n'a pas encore ce que nomme X-Grid-Seen. Rien n'a été fait : "
	"répéter la requête, ici ou à un autre nœud."},
    {"This node does not keep that supplier: ask without X-Grid-Passed.",
	"Ce nœud ne garde pas ce fournisseur : demander sans X-Grid-Passed."},
    {"This node cannot have what is to be shown of that supplier now: ask "
     "another one.",
	"Ce nœud ne peut avoir pour l'instant ce qui est à montrer de ce "
	"fournisseur : demander à un autre."},
    {"Import %llu of node %s does not come here: gridapi's log says why. What "
     "is "
     "here, of import %llu, can be read.",
	"L'import %llu du nœud %s n'arrive pas ici : le journal de gridapi dit "
	"pourquoi. Ce qui est ici, de l'import %llu, peut être lu."},
    {"%s: writes may be refused here, and other nodes not hear of this one. "
     "'gridctl cluster status' says which right is lacking. What is here can "
     "be read.",
	"%s : des écritures peuvent être refusées ici, et d'autres nœuds ne "
	"rien savoir de celui-ci. 'gridctl cluster status' dit quel droit "
	"manque. Ce qui est ici peut être lu."},
    {"Nothing was stored: this node takes no writes now. Ask another one.",
	"Rien n'a été enregistré : ce nœud n'accepte pas d'écriture en ce "
	"moment. Demander à un autre."},
    {"The last import of all nodes does not come to this one: ask another one.",
	"Le dernier import de tous les nœuds n'arrive pas à celui-ci : "
	"demander "
	"à un autre."},
    {"There is no supplier %.*s: nothing has been imported yet; on the server "
     "'gridctl import FOLDER' does it.",
	"Il n'y a pas de fournisseur %.*s : rien n'a encore été importé ; sur "
	"le serveur, 'gridctl import FOLDER' le fait."},
    {"There is no supplier %.*s with articles; /fournisseurs lists them.",
	"Aucun fournisseur %.*s n'a d'articles ; /fournisseurs les liste."},
    {"The server's disk is full. Nothing was stored; the request can be "
     "repeated when there is room.",
	"Le disque du serveur est plein. Rien n'a été enregistré ; répéter la "
	"requête quand il y aura de la place."},
    {"The server has met a limit on the size of files; the disk is not full. "
     "Nothing was stored; the request can be repeated when the operator has "
     "raised it: the server's log says how.",
	"Le serveur a atteint une limite de taille des fichiers ; le disque "
	"n'est pas plein. Rien n'a été enregistré ; répéter la requête quand "
	"l'exploitant l'aura relevée : le journal du serveur dit comment."},
    {"The server's storage has met a limit of its own; the disk is not full. "
     "Nothing was stored; the request can be repeated when the operator has "
     "raised it: the server's log says how.",
	"Le stockage du serveur a atteint une limite qui lui est propre ; le "
	"disque n'est pas plein. Rien n'a été enregistré ; répéter la requête "
	"quand l'exploitant l'aura relevée : le journal du serveur dit "
	"comment."},
    {"The server's disk takes no writes at present. Nothing was stored; the "
     "request can be repeated when it does. What is there can be read.",
	"Le disque du serveur n'accepte pas d'écriture en ce moment. Rien n'a "
	"été enregistré ; répéter la requête quand il en acceptera. Ce qui s'y "
	"trouve peut être lu."},
    {"It could not be stored (%s): look again before you repeat it; the "
     "server's log says more.",
	"L'enregistrement a échoué (%s) : regarder de nouveau avant de répéter "
	"; le journal du serveur en dit plus."},
    {"Too many suppliers are being computed: try again in some seconds.",
	"Trop de fournisseurs sont en cours de calcul : réessayer dans "
	"quelques secondes."},
    {"The computation of supplier %.*s took longer than %lld seconds and was "
     "ended; the next call may try again.",
	"Le calcul du fournisseur %.*s a dépassé %lld secondes et a été arrêté "
	"; le prochain appel peut réessayer."},
    {"The computation of supplier %.*s failed; the server's log says why.",
	"Le calcul du fournisseur %.*s a échoué ; le journal du serveur dit "
	"pourquoi."},
    {"This generation of supplier %.*s is not kept any more: begin again with "
     "its first page, without snapshot.",
	"Cette génération du fournisseur %.*s n'est plus gardée : reprendre à "
	"la première page, sans snapshot."},
    {"This generation of supplier %.*s cannot be read.",
	"Cette génération du fournisseur %.*s ne peut pas être lue."},
    {"This supplier has not been computed yet: GET /grid computes it, unless "
     "compute=0 says not to.",
	"Ce fournisseur n'a pas encore été calculé : GET /grid le calcule, "
	"sauf si compute=0 l'interdit."},
    {"mois=%s makes %llu columns, %d are the most: ask for fewer fields, or "
     "for mois=%s",
	"mois=%s fait %llu colonnes, %d au plus : demander moins de champs, ou "
	"mois=%s"},
    {"mois is for formats of cells; %.*s has the maps as they are",
	"mois vaut pour les formats de cellules ; %.*s donne les tables telles "
	"quelles"},
    {"This path does not know the method %.*s, only %s.",
	"Ce chemin ne connaît pas la méthode %.*s, seulement %s."},
    {"There is nothing at this path; /api/v1/openapi.json lists what there is.",
	"Il n'y a rien à ce chemin ; /api/v1/openapi.json liste ce qu'il y a."},
    {"The server cannot open its data at present; its log says why. The "
     "request can be repeated.",
	"Le serveur ne peut pas ouvrir ses données en ce moment ; son journal "
	"dit pourquoi. La requête peut être répétée."},
    {"The data could not be read (%s). The request can be repeated; the "
     "server's log says more.",
	"Les données n'ont pas pu être lues (%s). La requête peut être répétée "
	"; le journal du serveur en dit plus."},
    {"There is no such format; format is one of",
	"Ce format n'existe pas ; format est l'un de"},
    {"is needed", "est obligatoire"},
    {"is needed, one for all codes: /products/search finds a code at all "
     "suppliers, and meta.fournisseurs of /products/{codein} names those of an "
     "article",
	"est obligatoire, un pour tous les codes : /products/search trouve un "
	"code chez tous les fournisseurs, et meta.fournisseurs de "
	"/products/{codein} nomme ceux d'un article"},
    {"is empty, but is needed", "est vide, mais obligatoire"},
    {"has %zu characters, %lld are the most", "a %zu caractères, %lld au plus"},
    {"must be a supplier code of 1 to 64 bytes",
	"doit être un code de fournisseur de 1 à 64 octets"},
    {"is greater than %lld, the greatest number that is read",
	"dépasse %lld, le plus grand nombre qui est lu"},
    {"must be a whole number from %lld",
	"doit être un nombre entier à partir de %lld"},
    {"must be a whole number from %lld to %lld",
	"doit être un nombre entier de %lld à %lld"},
    {"must be 0 or 1", "doit être 0 ou 1"},
    {"must be asc or desc", "doit être asc ou desc"},
    {"must be one of A, B, C, Y, Z", "doit être l'une de A, B, C, Y, Z"},
    {"must be %lld digits", "doit avoir %lld chiffres"},
    {"must be 2, 4 or 6 digits", "doit avoir 2, 4 ou 6 chiffres"},
    {"must be a generation as meta.snapshot gives it, 16 hexadecimal digits",
	"doit être une génération telle que la donne meta.snapshot, 16 "
	"chiffres hexadécimaux"},
    {"must be %s or %s", "doit être %s ou %s"},
    {"is given twice", "est donné deux fois"},
    {"names what is no column: see details.unknown",
	"nomme ce qui n'est pas une colonne : voir details.unknown"},
    {"is one condition too many: %u are the most",
	"est une condition de trop : %u au plus"},
    {"is no parameter here", "n'est pas un paramètre ici"},
    {"must be some of proposee, validee, rejetee, retiree, modifiee, arrivee, "
     "separated by commas",
	"doit être parmi proposee, validee, rejetee, retiree, modifiee, "
	"arrivee, séparés par des virgules"},
    {"must be meta.suivant of an earlier answer",
	"doit être le meta.suivant d'une réponse précédente"},
    {"must be a day, 2026-11-21, or a moment, 2026-11-21T10:33:42Z",
	"doit être un jour, 2026-11-21, ou un instant, 2026-11-21T10:33:42Z"},
    {"must not be before du", "ne doit pas précéder du"},
    {"must be one of details.allowed, or some of them separated by commas",
	"doit être parmi details.allowed, ou plusieurs séparés par des "
	"virgules"},
    {"has over %d columns", "a plus de %d colonnes"},
    {"must be up to %d different ones of code1, code2, code3, marque, "
     "codeGamme, trend, mois, magasin",
	"doit nommer jusqu'à %d clés différentes parmi code1, code2, code3, "
	"marque, codeGamme, trend, mois, magasin"},
    {"must be up to %d columns", "doit nommer jusqu'à %d colonnes"},
    {"must be of sales12m, stock12m, receptions12m, or without magasin "
     "sales12mN1, as mois or magasin is in groups",
	"doit être parmi sales12m, stock12m, receptions12m, ou sans magasin "
	"sales12mN1, car mois ou magasin est dans groups"},
    {"must be columns of numbers", "doit nommer des colonnes de nombres"},
    {"has over %d parameters", "a plus de %d paramètres"},
    {"needs a date, YYYY-MM-DD", "demande une date, AAAA-MM-JJ"},
    {"needs a whole number", "demande un nombre entier"},
    {"needs a number with a decimal point and at most six decimals",
	"demande un nombre avec un point décimal et six décimales au plus"},
    {"needs one of up, down, flat", "demande up, down ou flat"},
    {"needs one of A, B, C, Y, Z", "demande l'une de A, B, C, Y, Z"},
    {"is too long", "est trop long"},
    {"knows is.null and is.not_null", "connaît is.null et is.not_null"},
    {"must be OPERATOR.VALUE, and the operators are%s, each also behind not.",
	"doit être OPÉRATEUR.VALEUR, et les opérateurs sont%s, chacun aussi "
	"derrière not."},
    {"is no column", "n'est pas une colonne"},
    {"needs a month behind the point, YYYYMM",
	"demande un mois derrière le point, AAAAMM"},
    {"needs a store's code behind the point",
	"demande le code d'un magasin derrière le point"},
    {"has a list with an open double quote",
	"a une liste dont un guillemet n'est pas fermé"},
    {"has a list with something behind a double quote",
	"a une liste avec quelque chose derrière un guillemet"},
    {"has a list of over 1000 values", "a une liste de plus de 1000 valeurs"},
    {"needs a list in brackets, in.(A,B)",
	"demande une liste entre parenthèses, in.(A,B)"},
    {"proposes %.*s for article %.*s, but changes[%u] proposes %.*s",
	"propose %.*s pour l'article %.*s, mais changes[%u] propose %.*s"},
    {"is the name of a key in use", "est le nom d'une clé en service"},
    {"must be 1 to %d bytes of text without control characters",
	"doit être un texte de 1 à %d octets sans caractère de contrôle"},
    {"is the name of a user", "est le nom d'un utilisateur"},
    {"must be 1 to %d bytes of text without control characters, and without "
     "blanks at its ends",
	"doit être un texte de 1 à %d octets sans caractère de contrôle, ni "
	"blanc aux deux bouts"},
    {"must be buyer, manager or administrator",
	"doit être buyer, manager ou administrator"},
    {"must be null: only a buyer decides for some suppliers",
	"doit être null : seul un acheteur décide pour certains "
	"fournisseurs"},
    {"must be read or propose", "doit être read ou propose"},
    {"must have one of codein and gtin", "doit avoir codein ou gtin"},
    {"names article %.*s, which is named already",
	"nomme l'article %.*s, déjà nommé"},
    {"must be meta.version of /app/pending",
	"doit être le meta.version de /app/pending"},
    {"names nothing to do: proposals, all",
	"ne nomme rien à faire : proposals, all"},
    {"names nothing to do: proposals, all or edits",
	"ne nomme rien à faire : proposals, all ou edits"},
    {"This supplier does not have every one of these articles: "
     "details.inconnus names those it has not. Nothing was proposed.",
	"Ce fournisseur n'a pas tous ces articles : details.inconnus nomme "
	"ceux qu'il n'a pas. Rien n'a été proposé."},
    {" %u of them", " %u d'entre eux"},
    {"This article", "Cet article"},
    {"%s came with an import that the snapshot of supplier %.*s does not have "
     "yet: have it computed (gridctl compute %.*s), or wait for the timer that "
     "does so.",
	"%s : d'un import que l'instantané du fournisseur %.*s n'a pas encore "
	"; le faire calculer (gridctl compute %.*s), ou attendre la minuterie "
	"qui le fait."},
    {"is missing; must be %s", "manque ; doit être %s"},
    {"must be %s, not %s", "doit être %s, et non %s"},
    {"must be from %ld to %ld, not %ld", "doit être de %ld à %ld, et non %ld"},
    {"is not a known member", "n'est pas un membre connu"},
    {"nothing", "rien"},
    {"true or false", "true ou false"},
    {"a whole number", "un nombre entier"},
    {"a number with a fraction", "un nombre à virgule"},
    {"a string", "un texte"},
    {"an array", "un tableau"},
    {"an object", "un objet"},
    {"is nested deeper than %u levels", "a plus de %u niveaux"},
    {"has a bad %XX escape", "a un échappement %XX incorrect"},
    {"holds a NUL", "contient un NUL"},
    {"holds a control character", "contient un caractère de contrôle"},
    {"is not UTF-8", "n'est pas de l'UTF-8"},
    {"must be one of A, B, C, Y, Z, or null",
	"doit être l'une de A, B, C, Y, Z, ou null"},
    {"has %zu characters, %d are the most", "a %zu caractères, %d au plus"},
    {"must be one line of text without control characters",
	"doit être une ligne de texte sans caractère de contrôle"},
    {"must have %zu to %zu items, has %zu",
	"doit avoir de %zu à %zu éléments, en a %zu"},
    {"must have %d to %d bytes", "doit avoir de %d à %d octets"},
    {"The present password is not right.",
	"Le mot de passe actuel n'est pas le bon."},
    {"The password is changed, but no session could be opened (%s): log in "
     "with the new password.",
	"Le mot de passe est changé, mais aucune session n'a pu être ouverte "
	"(%s) : se connecter avec le nouveau mot de passe."},
    {"Nothing was stored: this node's program is of an earlier version than "
     "the "
     "others'. Its pages are of before. Another node takes the request.",
	"Rien n'a été enregistré : le programme de ce nœud est d'une version "
	"antérieure à celle des autres. Ses pages datent d'avant. Un autre "
	"nœud "
	"prend la requête."},
    {"Nothing was stored: this node was away for too long, and has to join the "
     "others anew. Its pages are of before. Another node takes the request.",
	"Rien n'a été enregistré : ce nœud a été absent trop longtemps et doit "
	"rejoindre les autres à nouveau. Ses pages datent d'avant. Un autre "
	"nœud "
	"prend la requête."},
    {"Nothing was stored: this node is of a cluster, and its cluster.conf is "
     "missing. Its pages are of before. Another node takes the request.",
	"Rien n'a été enregistré : ce nœud fait partie d'un cluster, et son "
	"cluster.conf est absent. Ses pages datent d'avant. Un autre nœud "
	"prend la requête."},
    {"This node is of a cluster, and its cluster.conf is missing: nothing is "
     "stored here, and what other nodes write does not come. gridapi's log "
     "says what to do. What is here can be read.",
	"Ce nœud fait partie d'un cluster, et son cluster.conf est absent : "
	"rien n'est enregistré ici, et ce qu'écrivent d'autres nœuds n'arrive "
	"pas. Le journal de gridapi dit que faire. Ce qui est ici peut être "
	"lu."},
    {"Nothing was stored: the nodes' shared log is out of reach. The request "
     "can be repeated. What is there can be read.",
	"Rien n'a été enregistré : le journal commun des nœuds est hors "
	"d'atteinte. La requête peut être répétée. Ce qui est là peut être "
	"lu."},
    {"It may have been stored, or not: the nodes' shared log did not answer. "
     "Look again before you repeat it.",
	"C'est peut-être enregistré, peut-être pas : le journal commun des "
	"nœuds n'a pas répondu. Regarder à nouveau avant de répéter."},
    {"It is stored, and other nodes show it. The disk of this node is full or "
     "takes no writes: look at another node. There is no need to repeat it.",
	"C'est enregistré, et d'autres nœuds le montrent. Le disque de ce nœud "
	"est plein ou n'accepte pas d'écriture : regarder sur un autre nœud. "
	"Inutile de répéter."},
    {"Nothing was stored: the disk of this node is full or takes no writes. "
     "Another node takes the request.",
	"Rien n'a été enregistré : le disque de ce nœud est plein ou n'accepte "
	"pas d'écriture. Un autre nœud prend la requête."},
    {"Other nodes may have written what is not here: the log of all nodes is "
     "out of reach. What is here can be read.",
	"D'autres nœuds ont pu écrire ce qui n'est pas ici : le journal commun "
	"des nœuds est hors d'atteinte. Ce qui est ici peut être lu."},
    {"Another node has this one's name: set another [cluster] node in "
     "cluster.conf. What is here can be read.",
	"Un autre nœud a le nom de celui-ci : mettre un autre nom à [cluster] "
	"node dans cluster.conf. Ce qui est ici peut être lu."},
    {"This node is taking in what other nodes have written. What is here can "
     "be read.",
	"Ce nœud est en train de reprendre ce que d'autres nœuds ont écrit. Ce "
	"qui est ici peut être lu."},
    {"This node does not take in what other nodes have written: %s. What is "
     "here can be read.",
	"Ce nœud ne reprend pas ce que d'autres nœuds ont écrit : %s. Ce qui "
	"est ici peut être lu."},
    {"There is nothing of that name.", "Il n'y a rien de ce nom."},
    {"What several nodes were asked for has changed meanwhile, or comes too "
     "slowly: repeat the request.",
	"Ce qui était demandé à plusieurs nœuds a changé entre-temps, ou vient "
	"trop lentement : répéter la requête."},
    {"This is no question that this version knows.",
	"Ce n'est pas une question que cette version connaît."},
};

static const struct row *
find(const char *english)
{
	for (unsigned i = 0; i < COUNT(rows); i++)
		if (strcmp(rows[i].english, english) == 0)
			return &rows[i];
	return NULL;
}

const char *
french_of(const char *english)
{
	const struct row *row = find(english);

	assert(english != NULL);
	return row == NULL ? english : row->french;
}

struct span
french_span(struct span english)
{
	for (unsigned i = 0; i < COUNT(rows); i++)
		if (span_eq(span_of(rows[i].english), english))
			return span_of(rows[i].french);
	return english;
}

/* Around the first conversion, of two letters; false without one. */
static bool
split(struct span *before, struct span *behind, const char *format)
{
	struct span whole = span_of(format);
	size_t at = span_find(whole, '%');

	*before = span_sub(whole, 0, at);
	*behind = span_from(whole, at + 2);
	return at + 2 <= whole.len && span_find(*behind, '%') == behind->len;
}

/* Whether the row's English made the text, and what it was made with. */
static bool
made_by(struct span *value, const struct row *row, struct span text)
{
	struct span before, behind;

	if (!split(&before, &behind, row->english) || before.len == 0 ||
	    text.len < before.len + behind.len || !span_starts(text, before) ||
	    !span_eq(span_from(text, text.len - behind.len), behind))
		return false;
	*value = span_sub(text, before.len, text.len - before.len - behind.len);
	return true;
}

const char *
french_made(char *text, size_t size, const char *english)
{
	const struct row *row = find(english);
	struct span value, before, behind;

	if (row != NULL)
		return row->french;
	for (unsigned i = 0; i < COUNT(rows); i++) {
		if (!made_by(&value, &rows[i], span_of(english)) ||
		    !split(&before, &behind, rows[i].french))
			continue;
		snprintf(text, size, "%.*s%.*s%.*s", SPAN_ARG(before),
		    SPAN_ARG(value), SPAN_ARG(behind));
		return text;
	}
	return english;
}

bool
french_row(unsigned i, const char **english, const char **french)
{
	if (i >= COUNT(rows))
		return false;
	*english = rows[i].english;
	*french = rows[i].french;
	return true;
}
