#include "tools/gridctl/demo/demo_words.h"

#include <assert.h>

const struct demo_label demo_labels[] = {
    {"10", "Crèmerie et œufs"},
    {"1010", "Yaourts et desserts lactés"},
    {"1020", "Fromages"},
    {"12", "Fruits et légumes"},
    {"1210", "Fruits"},
    {"1220", "Légumes"},
    {"14", "Boucherie, charcuterie"},
    {"1410", "Boucherie et volaille"},
    {"1420", "Charcuterie"},
    {"1610", "Poissons et crustacés"},
    {"18", "Traiteur"},
    {"1810", "Traiteur libre-service"},
    {"20", "Épicerie salée"},
    {"2010", "Pâtes, riz et légumes secs"},
    {"2020", "Conserves"},
    {"2030", "Huiles, vinaigres et condiments"},
    {"22", "Épicerie sucrée"},
    {"2210", "Biscuits et gâteaux"},
    {"2220", "Chocolat et confiserie"},
    {"2230", "Petit-déjeuner"},
    {"30", "Boissons"},
    {"3010", "Eaux et boissons sans alcool"},
    {"3020", "Bières et cidres"},
    {"40", "Surgelés"},
    {"4010", "Glaces et desserts glacés"},
    {"4020", "Surgelés salés"},
    {"50", "Hygiène et beauté"},
    {"5010", "Soins du corps"},
    {"52", "Entretien"},
    {"5210", "Lessives et nettoyants"},
    {"5220", "Papier et jetables"},
    {"60", "Bébé"},
    {"6010", "Alimentation et soins du bébé"},
    {"70", "Bazar"},
    {"7010", "Maison et jardin"},
};
/* Left out: 16, 62 (level 1); 1030, 2040, 3030, 5020, 6210, 7020 (level 2). */

const unsigned demo_label_count = sizeof(demo_labels) / sizeof(demo_labels[0]);

const struct demo_kind demo_kinds[] = {
    {"101010", "Yaourts nature", DEMO_FLAT, 55, 89, 349, false,
	"Yaourt nature|Yaourt brassé|Yaourt à la grecque|Skyr|Fromage blanc",
	"|0 %|au lait entier|au lait de brebis|au lait de chèvre|bio|sucré",
	"4x125 g|8x125 g|4x100 g|500 g|1 kg|12x125 g"},
    {"101020", "Yaourts aux fruits", DEMO_SUMMER, 55, 119, 429, false,
	"Yaourt aux fruits|Yaourt brassé|Petit-suisse|Yaourt à boire",
	"fraise|framboise|pêche|cerise griotte|citron|mûre|abricot|mangue|"
	"myrtille|rhubarbe",
	"4x125 g|8x125 g|6x50 g|12x60 g|750 g"},
    {"101030", "Desserts lactés", DEMO_WINTER, 55, 149, 489, false,
	"Crème brûlée|Mousse au chocolat|Riz au lait|Île flottante|"
	"Crème dessert|Flan nappé|Panna cotta|Liégeois",
	"|vanille|chocolat|caramel au beurre salé|café|praliné|noix de coco",
	"2x100 g|4x100 g|4x90 g|6x85 g|400 g"},
    {"102010", "Fromages à pâte molle", DEMO_WINTER, 55, 199, 890, false,
	"Camembert|Brie|Coulommiers|Munster|Époisses|Saint-marcellin|"
	"Pont-l'évêque|Livarot",
	"|au lait cru|AOP|affiné|fermier|léger|crémeux",
	"150 g|200 g|240 g|250 g|350 g"},
    {"102020", "Fromages à la coupe", DEMO_WINTER, 55, 990, 3290, true,
	"Comté|Beaufort|Cantal entre-deux|Ossau-iraty|Emmental|"
	"Abondance|Tomme de brebis|Raclette|Reblochon fermier",
	"|12 mois|18 mois|24 mois|d'alpage|au lait cru|fumé", "à la coupe"},
    {"102030", "Fromages de chèvre", DEMO_SPRING, 55, 189, 690, false,
	"Bûche de chèvre|Crottin|Sainte-maure|Rocamadour|Chèvre frais|Cabécou",
	"|cendré|au miel|ail et fines herbes|affiné|frais, à tartiner",
	"100 g|150 g|180 g|200 g|4x35 g"},
    {"103010", "Beurres et crèmes", DEMO_YEAR_END, 55, 139, 549, false,
	"Beurre de baratte|Beurre doux|Beurre demi-sel|Crème fraîche épaisse|"
	"Crème entière liquide|Crème légère",
	"|aux cristaux de sel|d'Isigny|extra-fin|bio|15 %|30 %",
	"125 g|250 g|500 g|20 cl|50 cl|3x20 cl"},
    {"103020", "Laits", DEMO_FLAT, 55, 89, 259, false,
	"Lait demi-écrémé|Lait entier|Lait écrémé|Lait sans lactose|"
	"Lait ribot|Boisson à l'avoine|Boisson au soja",
	"|UHT|frais|bio|de montagne|vitaminé", "1 L|6x1 L|50 cl|1,5 L"},
    {"103030", "Œufs", DEMO_EASTER, 55, 159, 559, false,
	"Œufs de poules élevées en plein air|Œufs bio|Œufs label rouge|"
	"Œufs de caille|Œufs de poules élevées au sol",
	"|gros calibre|moyen calibre|extra-frais|datés du jour de ponte",
	"x6|x10|x12|x18|x20"},
    {"121010", "Pommes et poires", DEMO_WINTER, 55, 179, 449, true,
	"Pomme golden|Pomme gala|Pomme reine des reinettes|Poire conférence|"
	"Poire williams|Pomme boskoop|Pomme pink",
	"|cat. 1|bio|du Limousin|des Alpes|à cuire", "vrac"},
    {"121020", "Agrumes", DEMO_WINTER, 55, 189, 549, true,
	"Orange à jus|Orange de table|Clémentine feuille|Citron jaune|"
	"Pamplemousse rose|Citron vert|Mandarine",
	"|de Corse|non traité(e) après récolte|bio|gros calibre", "vrac"},
    {"121030", "Fruits rouges", DEMO_SUMMER, 55, 199, 690, false,
	"Fraises gariguettes|Fraises rondes|Framboises|Myrtilles|Groseilles|"
	"Cerises burlat|Mûres",
	"|de Plougastel|de pleine terre|bio|du Périgord", "125 g|250 g|500 g"},
    {"121040", "Fruits exotiques", DEMO_YEAR_END, 55, 99, 490, false,
	"Ananas|Mangue|Kiwi|Fruit de la passion|Litchis|Noix de coco|Grenade",
	"|avion|prêt à manger|jaune|bio|Victoria",
	"la pièce|x2|x4|x6|barq. "
	"500 g"},
    {"122010", "Légumes racines", DEMO_WINTER, 55, 119, 390, true,
	"Carotte|Navet|Panais|Betterave cuite|Pomme de terre|Céleri-rave|"
	"Topinambour|Radis noir",
	"|des sables|de consommation|chair ferme|bio|lavée|nouvelle", "vrac"},
    {"122020", "Salades", DEMO_SUMMER, 55, 99, 349, false,
	"Laitue|Batavia|Mâche|Roquette|Feuille de chêne|Jeunes pousses|Frisée",
	"|prête à l'emploi|bio|de plein champ|nantaise",
	"la pièce|125 g|150 g|200 g|x2"},
    {"122030", "Tomates et légumes d'été", DEMO_SUMMER, 55, 199, 590, true,
	"Tomate ronde|Tomate grappe|Tomate cœur de bœuf|Courgette|Aubergine|"
	"Poivron rouge|Concombre|Haricot vert",
	"|de Marmande|bio|extra-fin(e)|cat. 1|ancienne", "vrac"},
    {"141010", "Bœuf et veau", DEMO_FLAT, 55, 1090, 3990, true,
	"Entrecôte|Faux-filet|Bavette d'aloyau|Bœuf bourguignon|Rôti de veau|"
	"Blanquette de veau|Pot-au-feu|Côte de bœuf",
	"|race charolaise|race limousine|label rouge|maturé(e)|à griller",
	"barquette|x2|x4"},
    {"141020", "Volaille", DEMO_YEAR_END, 55, 690, 2290, true,
	"Poulet fermier|Cuisse de canard|Filet de poulet|Chapon|Pintade|"
	"Escalope de dinde|Magret de canard|Caille",
	"|label rouge|des Landes|de la Sarthe|bio|jaune", "la pièce|x2|x4"},
    {"142010", "Jambons", DEMO_FLAT, 55, 199, 790, false,
	"Jambon blanc|Jambon sec|Jambon à l'os|Jambon de Bayonne|Bacon|"
	"Jambon persillé|Blanc de poulet",
	"|supérieur|sans nitrite|à taux de sel réduit, -25 %|fumé|découenné",
	"2 tranches|4 tranches|6 tranches|8 tranches|100 g"},
    {"142020", "Saucissons et saucisses", DEMO_SUMMER, 55, 249, 990, false,
	"Saucisson sec|Rosette|Chorizo|Saucisse de Toulouse|Merguez|"
	"Saucisse de Morteau|Chipolatas|Boudin noir",
	"|pur porc|aux noix|aux herbes|doux|fort|à l'ancienne",
	"200 g|250 g|x4|x6|300 g|80 g"},
    {"142030", "Pâtés, rillettes et foies gras", DEMO_YEAR_END, 55, 179, 3990,
	false,
	"Rillettes|Pâté de campagne|Terrine|Mousse de canard|"
	"Foie gras de canard entier|Pâté en croûte|Confit d'oie",
	"|du Mans|au piment d'Espelette|de chevreuil|au cognac|aux cèpes",
	"90 g|130 g|180 g|220 g|300 g"},
    {"161010", "Poissons frais", DEMO_FLAT, 55, 990, 3490, true,
	"Dos de cabillaud|Pavé de saumon|Filet de merlan|Lotte|Bar|"
	"Daurade royale|Sole|Thon albacore",
	"|de ligne|sans arêtes|pêche française|label rouge|d'Écosse",
	"à la coupe"},
    {"161020", "Poissons fumés", DEMO_YEAR_END, 55, 299, 1490, false,
	"Saumon fumé|Truite fumée|Haddock|Hareng doux fumé|Œufs de truite|"
	"Maquereau fumé au poivre",
	"|de Norvège|d'Écosse|tranché main|bio|élevé en France",
	"2 tranches|4 tranches|6 tranches|100 g|200 g"},
    {"161030", "Coquillages et crustacés", DEMO_YEAR_END, 55, 690, 2990, true,
	"Moules de bouchot|Huîtres creuses n° 3|Crevettes roses cuites|"
	"Bulots cuits|Coquilles Saint-Jacques|Langoustines",
	"|de Bretagne|AOP|sauvages|de Bouzigues", "vrac|barquette"},
    {"181010", "Salades et entrées traiteur", DEMO_SUMMER, 100, 199, 590, false,
	"Taboulé|Carottes râpées|Piémontaise|Céleri rémoulade|Houmous|"
	"Tzatziki|Salade de lentilles",
	"|oriental|à l'huile d'olive|maison|au citron, sans conservateur",
	"200 g|300 g|500 g|1 kg"},
    {"181020", "Sandwichs et salades-repas", DEMO_SUMMER, 100, 249, 690, false,
	"Sandwich club|Wrap|Salade César|Bagel|Panini|Pan-bagnat",
	"jambon, emmental|poulet, curry|thon, œuf|chèvre, miel|saumon, aneth|"
	"légumes grillés",
	"150 g|180 g|230 g|320 g"},
    {"181030", "Pizzas et plats cuisinés frais", DEMO_WINTER, 100, 299, 890,
	false,
	"Pizza|Quiche lorraine|Hachis parmentier|Tartiflette|Lasagnes|"
	"Couscous|Gratin dauphinois",
	"|royale|4 fromages|au bœuf|au saumon, à l'aneth|végétarien(ne)",
	"300 g|350 g|450 g|900 g"},
    {"201010", "Pâtes", DEMO_FLAT, 55, 79, 349, false,
	"Coquillettes|Spaghettis|Penne|Farfalle|Tagliatelles|Macaronis|Fusilli",
	"|n° 5|complet(e)s|aux œufs frais|bio|sans gluten",
	"250 g|500 g|1 kg|3x500 g"},
    {"201020", "Riz et céréales", DEMO_FLAT, 55, 129, 549, false,
	"Riz basmati|Riz long grain|Riz de Camargue|Quinoa|Boulgour|"
	"Semoule fine|Polenta",
	"|rouge|complet|bio|cuisson 10 min|en sachets cuisson",
	"400 g|500 g|1 kg|4x125 g"},
    {"201030", "Légumes secs", DEMO_WINTER, 55, 149, 449, false,
	"Lentilles vertes|Pois chiches|Haricots lingots|Flageolets|Pois cassés|"
	"Lentilles corail",
	"|du Puy|du Berry|bio|AOP", "400 g|500 g|1 kg"},
    {"202010", "Conserves de légumes", DEMO_WINTER, 55, 89, 399, false,
	"Petits pois|Haricots verts|Maïs doux|Ratatouille|Tomates pelées|"
	"Cœurs de palmier|Champignons de Paris",
	"|extra-fins|à l'étuvée|cuisinée à la provençale|sans sel ajouté|bio",
	"1/2|4/4|3x1/4|285 g|400 g"},
    {"202020", "Conserves de poisson", DEMO_SUMMER, 55, 139, 690, false,
	"Sardines|Thon blanc germon|Maquereaux|Filets d'anchois|Miettes de "
	"thon",
	"à l'huile d'olive|au naturel|à la tomate|au citron|à la moutarde",
	"115 g|140 g|3x80 g|160 g"},
    {"202030", "Plats cuisinés en conserve", DEMO_WINTER, 55, 199, 890, false,
	"Cassoulet|Choucroute garnie|Raviolis|Saucisses aux lentilles|"
	"Bœuf bourguignon|Axoa de veau",
	"|au confit de canard|pur bœuf|à l'ancienne|recette de Castelnaudary",
	"300 g|420 g|800 g|840 g"},
    {"203010", "Huiles et vinaigres", DEMO_FLAT, 55, 199, 1290, false,
	"Huile d'olive vierge extra|Huile de tournesol|Huile de colza|"
	"Vinaigre balsamique|Vinaigre de cidre|Huile de noix",
	"|bio|première pression à froid|fruitée|de Modène|AOP",
	"25 cl|50 cl|75 cl|1 L|2 L"},
    {"203020", "Moutardes et sauces", DEMO_SUMMER, 55, 99, 490, false,
	"Moutarde de Dijon|Moutarde à l'ancienne|Mayonnaise|Ketchup|"
	"Sauce béarnaise|Sauce tomate|Pesto",
	"|au basilic|forte|sans sucres ajoutés|au piment|nature, sans additif",
	"190 g|200 g|350 g|420 g|560 g"},
    {"203030", "Sel, épices et herbes", DEMO_FLAT, 55, 119, 590, false,
	"Fleur de sel|Poivre noir|Herbes de Provence|Curry|Paprika doux|"
	"Cannelle moulue|Safran",
	"|de Guérande|en grains|moulu|bio|moulin", "12 g|35 g|50 g|125 g|1 kg"},
    {"204010", "Chips et biscuits salés", DEMO_SUMMER, 55, 99, 349, false,
	"Chips|Tuiles|Crackers|Bretzels|Cacahuètes grillées|Mini-gressins",
	"|à l'ancienne|sel et vinaigre|au poivre|saveur barbecue|emmental",
	"85 g|90 g|125 g|150 g|200 g"},
    {"204020", "Olives et tartinables", DEMO_SUMMER, 55, 149, 549, false,
	"Olives vertes|Olives noires à la grecque|Tapenade|Tarama|Anchoïade|"
	"Caviar d'aubergines",
	"|dénoyautées|aux herbes|de Nyons|à l'ail|au basilic",
	"100 g|150 g|200 g|400 g"},
    {"221010", "Biscuits", DEMO_SCHOOL, 55, 99, 449, false,
	"Petit-beurre|Galettes bretonnes|Sablés|Madeleines|Langues de chat|"
	"Biscuits fourrés|Palets|Cookies",
	"|pur beurre|tout chocolat|nappés chocolat|aux pépites|citron",
	"125 g|150 g|200 g|300 g|4x75 g"},
    {"221020", "Gâteaux et pâtisseries", DEMO_WINTER, 55, 149, 590, false,
	"Quatre-quarts|Brioche tressée|Pain d'épices|Cannelés|Gâteau basque|"
	"Kouign-amann|Gâche",
	"|pur beurre|au miel|aux fruits confits|tranché(e)|de Vendée",
	"250 g|400 g|500 g|600 g|x6"},
    {"222010", "Tablettes de chocolat", DEMO_YEAR_END, 55, 99, 449, false,
	"Chocolat noir|Chocolat au lait|Chocolat blanc|Chocolat praliné|"
	"Chocolat dessert",
	"70 %|85 %|aux noisettes entières|fleur de sel|orange|"
	"riz soufflé|bio, équitable",
	"100 g|150 g|180 g|200 g|2x100 g"},
    {"222020", "Confiserie", DEMO_YEAR_END, 200, 119, 690, false,
	"Nougat|Calissons|Caramels|Bêtises à la menthe|Pâtes de fruits|"
	"Marrons glacés|Berlingots",
	"|tendre(s)|au beurre salé|assortis|de Montélimar|d'Aix",
	"120 g|150 g|200 g|250 g|400 g"},
    {"222030", "Chocolats de fête", DEMO_EASTER, 200, 299, 1990, false,
	"Œuf en chocolat|Lapin en chocolat|Cloche garnie|"
	"Assortiment de fritures|Ballotin|Rochers pralinés",
	"|au lait|noir|trois chocolats|garni(e) de petits œufs",
	"100 g|150 g|200 g|280 g|500 g"},
    {"223010", "Cafés", DEMO_WINTER, 55, 249, 990, false,
	"Café moulu|Café en grains|Capsules|Dosettes|Café soluble",
	"pur arabica|décaféiné|expresso|de Colombie|n° 7, corsé|bio",
	"250 g|500 g|x10|x36|x40|200 g"},
    {"223020", "Thés et infusions", DEMO_WINTER, 55, 149, 590, false,
	"Thé vert|Thé noir|Infusion|Rooibos|Thé blanc",
	"menthe|bergamote|verveine|tilleul|fruits rouges|camomille, miel",
	"x20|x25|x50|100 g"},
    {"223030", "Confitures et miels", DEMO_FLAT, 55, 179, 890, false,
	"Confiture extra|Gelée|Marmelade|Miel|Crème de marrons|Pâte à tartiner",
	"fraise|abricot|mirabelle|d'acacia|de lavande|orange amère|de forêt|"
	"figue, noix",
	"250 g|320 g|370 g|500 g|750 g"},
    {"223040", "Céréales", DEMO_SCHOOL, 55, 179, 549, false,
	"Pétales de maïs|Muesli|Flocons d'avoine|Granola|Riz soufflé",
	"|chocolat|fruits secs|noix de pécan|sans sucres ajoutés|miel, amandes",
	"375 g|400 g|500 g|750 g"},
    {"301010", "Eaux", DEMO_SUMMER, 55, 49, 490, false,
	"Eau minérale naturelle|Eau de source|Eau gazeuse|Eau aromatisée",
	"|citron|fines bulles|des Cévennes|menthe, citron vert",
	"50 cl|1 L|1,5 L|6x1,5 L|6x50 cl|5 L"},
    {"301020", "Jus de fruits", DEMO_SUMMER, 55, 129, 449, false,
	"Pur jus|Nectar|Smoothie|Jus frais",
	"orange|pomme|multifruit|raisin|ananas|tomate|poire|pêche, abricot",
	"20 cl|75 cl|1 L|6x20 cl|2 L"},
    {"301030", "Sodas et sirops", DEMO_SUMMER, 55, 99, 590, false,
	"Limonade|Cola|Thé glacé|Sirop|Tonic",
	"|pêche|grenadine|menthe|citron|zéro sucres|violette",
	"33 cl|6x33 cl|70 cl|1,25 L|1,5 L|2 L"},
    {"302010", "Bières", DEMO_SUMMER, 200, 119, 1490, false,
	"Bière blonde|Bière ambrée|Bière blanche|Bière triple|Bière sans "
	"alcool",
	"|d'abbaye|artisanale|de Noël|IPA|au miel de châtaignier",
	"33 cl|75 cl|6x25 cl|12x25 cl|20x25 cl"},
    {"302020", "Cidres", DEMO_WINTER, 200, 199, 690, false,
	"Cidre brut|Cidre doux|Poiré|Cidre fermier|Kir breton",
	"|de Bretagne|de Normandie|bouché|bio|rosé", "75 cl|1 L|3x75 cl"},
    {"303010", "Vins", DEMO_WINE, 200, 299, 2490, false,
	"Bordeaux|Côtes du Rhône|Muscadet|Bourgogne aligoté|Corbières|"
	"Gewurztraminer|Côtes de Provence|Saint-Émilion",
	"rouge|blanc|rosé|AOP|bio, sans sulfites ajoutés|"
	"mis en bouteille au château",
	"37,5 cl|75 cl|3x75 cl|6x75 cl|3 L"},
    {"303020", "Champagnes et effervescents", DEMO_YEAR_END, 200, 599, 4990,
	false,
	"Champagne brut|Crémant de Loire|Clairette de Die|Blanquette|Mousseux",
	"|demi-sec|rosé|blanc de blancs|millésimé|cuvée \"Prestige\"",
	"37,5 cl|75 cl|1,5 L"},
    {"303030", "Spiritueux", DEMO_YEAR_END, 200, 899, 4990, false,
	"Rhum|Calvados|Armagnac|Liqueur|Pastis|Eau-de-vie de mirabelle|Gin",
	"|agricole|vieux, 5 ans|de cassis|blanc|aux plantes",
	"50 cl|70 cl|1 "
	"L"},
    {"401010", "Glaces", DEMO_SUMMER, 55, 249, 790, false,
	"Crème glacée|Sorbet|Cônes|Bâtonnets|Bûche glacée|Esquimaux",
	"vanille|chocolat|fraise|citron|café|caramel, fleur de sel|pistache",
	"500 ml|750 ml|900 ml|x4|x6|x8"},
    {"402010", "Légumes et pommes de terre surgelés", DEMO_WINTER, 55, 149, 590,
	false, "Épinards|Haricots verts|Poêlée|Frites|Purée|Brocolis",
	"|en branches|à la crème|campagnarde|au four|bio",
	"450 g|600 g|750 g|1 kg|2,5 kg"},
    {"402020", "Plats et poissons surgelés", DEMO_WINTER, 55, 249, 1290, false,
	"Colin pané|Paella|Escargots de Bourgogne|Crêpes fourrées|"
	"Noix de Saint-Jacques|Moussaka|Pizza",
	"|façon meunière|au jambon, fromage|royale|sans arêtes|MSC",
	"x4|x6|x12|300 g|450 g|900 g"},
    {"501010", "Savons et gels douche", DEMO_FLAT, 200, 149, 690, false,
	"Savon de Marseille|Gel douche|Savon liquide|Pain dermatologique|Bain "
	"moussant",
	"|amande douce|fleur d'oranger|lavande|sans savon|karité, miel",
	"100 g|250 ml|300 ml|400 ml|4x100 g"},
    {"501020", "Shampooings", DEMO_FLAT, 200, 199, 890, false,
	"Shampooing|Après-shampooing|Masque capillaire|Shampooing sec|Laque",
	"cheveux gras|cheveux secs|camomille|antipelliculaire|usage fréquent|"
	"cheveux colorés",
	"200 ml|250 ml|300 ml|400 ml"},
    {"501030", "Soins solaires", DEMO_SUMMER, 200, 490, 1890, false,
	"Lait solaire|Crème solaire|Huile sèche|Après-soleil|Stick lèvres",
	"|SPF 30|SPF 50+|enfants|peaux sensibles|à l'aloe vera",
	"50 ml|100 ml|150 ml|200 ml"},
    {"502010", "Hygiène dentaire", DEMO_FLAT, 200, 129, 690, false,
	"Dentifrice|Brosse à dents|Bain de bouche|Fil dentaire|Brossettes",
	"|menthe|blancheur|gencives sensibles|souple|enfant, 3-6 ans",
	"75 ml|x1|x2|500 ml|50 m"},
    {"502020", "Coton et soins", DEMO_FLAT, 200, 99, 549, false,
	"Disques à démaqueller|Bâtonnets|Pansements|Mouchoirs étuis|Lingettes",
	"|bio|doux|peaux sensibles|imperméables", "x70|x80|x200|x20|x10"},
    {"521010", "Lessives", DEMO_FLAT, 200, 390, 1990, false,
	"Lessive liquide|Lessive en poudre|Lessive en capsules|Adoucissant|"
	"Détachant",
	"|linge délicat|hypoallergénique|savon végétal|couleurs|lavande",
	"1 L|1,5 L|2 L|x20|x32|3 kg"},
    {"521020", "Nettoyants", DEMO_SPRING, 200, 139, 590, false,
	"Nettoyant multi-usages|Liquide vaisselle|Tablettes lave-vaisselle|"
	"Gel WC|Vinaigre ménager|Nettoyant vitres",
	"|pin|citron|eucalyptus|sans phosphates|tout-en-1",
	"500 ml|750 ml|1 L|x30|x60"},
    {"522010", "Papier et essuie-tout", DEMO_FLAT, 200, 199, 1290, false,
	"Papier toilette|Essuie-tout|Serviettes|Boîte de mouchoirs",
	"|triple épaisseur|recyclé|ultra-doux|blanc|motif \"vichy\"",
	"x4|x6|x12|x24|x50|x100"},
    {"522020", "Sacs et emballages", DEMO_FLAT, 200, 149, 590, false,
	"Sacs poubelle|Papier cuisson|Film alimentaire|Papier aluminium|"
	"Sacs congélation",
	"|à liens|résistants|compostables|30 L|50 L", "10 m|20 m|30 m|x20|x50"},
    {"601010", "Petits pots et laits infantiles", DEMO_FLAT, 55, 129, 1990,
	false,
	"Petit pot|Lait 2e âge|Compote en gourde|Assiette bébé|Lait de "
	"croissance",
	"pomme, poire|carottes|légumes verts, colin|banane|dès 6 mois|"
	"dès 12 mois, bio",
	"2x130 g|4x100 g|800 g|230 g|6x1 L"},
    {"601020", "Couches et soins", DEMO_FLAT, 200, 249, 2490, false,
	"Couches|Culottes d'apprentissage|Lingettes bébé|Liniment|Couches de "
	"bain",
	"|taille 2|taille 3|taille 4|taille 5|peaux sensibles",
	"x28|x44|x56|x72|500 ml"},
    {"621010", "Chiens et chats", DEMO_FLAT, 200, 99, 2490, false,
	"Croquettes chat|Croquettes chien|Pâtée chat|Terrine chien|Litière|"
	"Friandises",
	"|stérilisé|au bœuf|au saumon|junior|agglomérante|sans céréales",
	"12x85 g|400 g|1,5 kg|4 kg|10 L|12 kg"},
    {"701010", "Jardin et plein air", DEMO_SPRING, 200, 199, 3990, false,
	"Terreau universel|Graines de radis|Engrais tomates|Gants de jardin|"
	"Charbon de bois|Arrosoir|Tuyau d'arrosage",
	"|bio|géraniums|à retombée|taille 9|épuration",
	"10 L|40 L|3 kg|5 "
	"kg|x1|15 m"},
    {"701020", "Cuisine et table", DEMO_YEAR_END, 200, 199, 4990, false,
	"Poêle|Casserole|Verre à pied|Assiette plate|Couteau d'office|"
	"Boîte hermétique|Nappe",
	"|inox|en grès|antiadhésive|lot de 6|verre trempé",
	"16 cm|20 cm|24 cm|28 cm|x1|x6"},
    {"702010", "Papeterie", DEMO_SCHOOL, 200, 99, 1490, false,
	"Cahier|Classeur|Stylos-bille|Feuilles simples|Trousse|Agenda|"
	"Crayons de couleur",
	"grands carreaux|petits carreaux|24x32|bleu|assortis|21x29,7|"
	"petits carreaux,\nmarge rouge|couverture\tpolypro",
	"96 p.|192 p.|x4|x12|x100|x1"},
    {"702020", "Piles et ampoules", DEMO_YEAR_END, 200, 249, 1490, false,
	"Piles alcalines|Ampoule LED|Piles rechargeables|Rallonge|Multiprise",
	"AA/LR6|AAA/LR03|9 V|E27, 806 lm|E14|blanc chaud",
	"x1|x2|x4|x8|x12|3 m"},
};

const unsigned demo_kind_count = sizeof(demo_kinds) / sizeof(demo_kinds[0]);

const char demo_brands[] =
    "L'Épi doré|Cœur de Brie|Les Prés d'Auge|Côté Mer|Fournil & Cie|"
    "Val-Fleuri|La Ronde des Saveurs|Maison de l'Œillet|Terre d'Oc|"
    "Brin d'Été|Le Panier \"Futé\"|Rivages|Sœurs Mésange|Délice du Jura|"
    "Nature & Sens|Grand'Rue|Les Cîmes|Pêcherie de l'Île|Bel Âtre|"
    "Aube Claire|L'Arôme Juste|Château-Vert|Ô Marché|Tradition, qualité 1924|"
    "Bulle de Source|Éclat|Petit Mousse|Gourmilette|Ferme des Trois Chênes|"
    "Haute-Lande|Clair Logis|Mistral Bleu|La Bonne Pioche|Zéphyr|"
    "Noël & Cie|Vif-Argent|Les 4 Saisons|Duché d'Uzès-le-Mas|Maïado|Kerlann";

const char demo_notes[] =
    "Origine France|Agriculture biologique|Sans conservateur|"
    "Sans sucres ajoutés, sans colorant|Édition limitée|"
    "Format familial|Lot de 2, dont 1 gratuit|Nouvelle recette|"
    "Pêche durable|Élaboré dans l'Ain|Œuvre d'artisans|Le \"vrai\" goût|"
    "À conserver entre 0 et 4 °C|Emballage recyclable|Fabriqué en Bretagne|"
    "Goût d'autrefois|1er prix|Sélection du chef de rayon|"
    "Convient aux végétariens|Teneur garantie, voir au dos|"
    "Lot de 3\t+ 1 offert|Recette \"d'antan\",\nau beurre de baratte";

const char demo_towns[] =
    "Orléans|Saint-Étienne|L'Haÿ-les-Roses|Angoulême|Béziers|Châteauroux|"
    "Évreux|Mâcon|Nîmes|Périgueux|Quimper|Sète|Troyes|Valence|Vannes|Besançon|"
    "Bourg-en-Bresse|Alès|Chambéry|Dieppe|Épinal|Fougères|Guéret|Hyères|"
    "Issoudun|La Flèche|Laon|Montélimar|Nœux-les-Mines|Niort|Oyonnax|Pau|"
    "Redon|Saint-Brieuc|Tarbes|Ussel|Vichy|Aÿ-Champagne|Lons-le-Saunier|"
    "Crépy-en-Valois";

const char demo_quarters[] =
    "Centre|Nord|Les Halles|La Gare|Sud, rocade|Bord de Loire|L'Hôpital";

const char demo_trades[] =
    "Laiterie|Conserverie|Moulins|Biscuiterie|Salaisons|Brasserie|Vignerons|"
    "Comptoir|Chocolaterie|Primeurs|Huilerie|Marée|Abattoirs|Distillerie|"
    "Savonnerie|Papeteries|Sources|Fromagerie|Boulangerie|Fermiers|"
    "Laboratoires|Maison|Vergers|Produits frais";

const char demo_places[] =
    "de l'Armor|du Val d'Yèvre|de la Côte d'Émeraude|des Deux Vallées|"
    "du Haut-Forez|de l'Île aux Moines|d'Auvergne|du Pays d'Ouche|de Thiérache|"
    "des Alpilles|du Cœur de France|de la Brière|de l'Œuf|du Grand Ried|"
    "d'Aunis|du Périgord vert|des Monts d'Arrée|du Bas-Maine|de Gâtine|"
    "de la Plaine, Est|du Vexin|de l'Étang|des Mauges|du Sundgau|"
    "d'Entre-deux-Mers|de la Haute-Saône|du Trièves|de l'Avesnois|du Léon|"
    "\"Les Tilleuls\"";

const char demo_forms[] = "SAS|SARL|SA|& Fils|SCA|GIE||réunis, SAS";

unsigned
demo_list_count(const char *list)
{
	unsigned count = 1;

	assert(list != NULL);
	for (; *list != '\0'; list++)
		count += *list == '|';
	return count;
}

struct span
demo_list_at(const char *list, unsigned i)
{
	struct span rest = span_of(list), piece = {NULL, 0};

	assert(list != NULL);
	do
		if (!span_cut(&piece, &rest, '|'))
			return (struct span){"", 0};
	while (i-- > 0);
	return piece;
}

struct span
demo_draw(struct demo_random *random, const char *list)
{
	assert(random != NULL && list != NULL);
	return demo_list_at(list, demo_below(random, demo_list_count(list)));
}
