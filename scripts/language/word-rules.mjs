// Idioms and spellings that texts of this project don't use, each with its replacement.

/** `[pattern, hint]`: idioms and personifications; sentences are matched without code spans and quotations. */
export const idioms = [
  [/\b(?:is|are|was|were|be|been|being|gets?) told\b/i, 'say who sends or shows it: "gets", "receives", "is notified"'],
  [/\bmay be\b/i, '"can be" or "is optional"'],
  [/\b(?:nobody|no-one)(?:'s|’s)?\b/i, 'name the actor: "no user", "no client"'],
  [/\bsomebody(?:'s|’s)?\b/i, 'name the actor: "another user", "a caller"'],
  [/\b(?:whoever|whomever|whosoever|whatsoever)\b/i, 'name the actor'],
  [/\bhear(?:s|d|ing)?(?: of| from)?\b/i, '"receives", "is notified of"'],
  [/\bthe rest of\b/i, '"the remaining …"'],
  [/\b(?:out of|runs? out of|has|have|with|without|its|of) patience\b/i, '"timeout", "retries"'],
  [/\bbreath(?:s|e|es|ing)?\b/i, '"yields"'],
  [/\banew\b/i, '"again"'],
  [
    /\b(?:go|goes|went|going) on (?:with|by|after|at|in|from|until|as|while|without)\b|\b(?:go|goes|went) on[.;:,]/i,
    '"continues"',
  ],
  [/\bin earnest\b/i, '"in production"'],
  [/\bin (?:its|their|his|her) turn\b|\b(?:has|have|had|get|gets) (?:its|their|a) turn\b/i, '"is scheduled", "yields"'],
  [/\b(?:waits?|stands?|stood|waiting|standing) in line\b/i, '"is queued"'],
  [/\bstands? (?:at|below|above|beside|there|in the|on the)\b/i, '"is"'],
  [/\bgives? way\b/i, '"fails first", "is dropped"'],
  [/\b(?:is|are|was|were) in the way\b/i, '"blocks"'],
  [/\b(?:told|tell|tells|telling) (?:them |it |one )?apart\b/i, '"distinguish"'],
  [/\b(?:is|are) no (?!longer\b|more\b|other\b)[\w-]+ (?:that|which|of)\b/i, '"is not a … that"'],
  [/\bon (?:its|their) guard\b|\bon guard\b/i, '"protects", "matches"'],
  [/\bshuts? (?:\w+ ){0,3}out\b/i, '"disables", "locks out"'],
  [/\bmend(?:s|ed|ing)?\b/i, '"repairs", "corrects"'],
  [/\b(?:an end is an end|the word of|has its say|of (?:one|its|their) own accord)\b/i, 'name what happens'],
  [
    /\b(?:for want of|save for|all but|lest|whence|hence|thereof|therein|thereby|henceforth|thither|hither)\b/i,
    'plain words',
  ],
  [/\bthose (?:who|that) (?:come|comes|came|go|goes|went|leave|left|follow|wait)\b/i, 'name the actors'],
  [/\bmakes? (?:it|them|\w+) known\b/i, '"announces", "publishes"'],
  [
    /\b(?:server|service|daemon|client|browser|page|database|log|status|program|process|file|header|row|table|function|test|tab|replica|runtime|cache|queue|kernel|socket|handler) (?:says|said|tells|knows|knew|hears|forgets|forgot|remembers|believes|wants|thinks)\b/i,
    'programs report, store, return, require',
  ],
  [/\b(?:as ever|ever so|once and for all|far and wide|to and fro)\b/i, 'plain words'],
];

const doubledL = ['cancel', 'label', 'model', 'travel', 'signal', 'channel', 'tunnel', 'level', 'total', 'marshal'];
const iseVerbs =
  'organ recogn initial normal serial optim summar author custom minim maxim priorit synchron token final util special general local categor visual apolog emphas standard modern sanit character material stabil central memor';

/** `[pattern, American]`: British spellings. Identifiers, paths and quoted values are no words. */
export const spellings = [
  ...words('colour', 'color', ['', 's', 'ed', 'ing', 'ful', 'less']),
  ...words('favourite', 'favorite', ['', 's']),
  ...words('behaviour', 'behavior', ['', 's', 'al']),
  ...words('neighbour', 'neighbor', ['', 's', 'ing', 'hood']),
  ...words('honour', 'honor', ['', 's', 'ed', 'ing']),
  ...words('flavour', 'flavor', ['', 's']),
  ...words('humour', 'humor', ['']),
  ...words('labour', 'labor', ['', 's']),
  ...words('rumour', 'rumor', ['', 's']),
  ...words('endeavour', 'endeavor', ['', 's']),
  ...words('licence', 'license', ['', 's']),
  ...words('defence', 'defense', ['', 's']),
  ...words('offence', 'offense', ['', 's']),
  ...words('pretence', 'pretense', ['', 's']),
  ...words('centre', 'center', ['', 's', 'd']),
  ...words('metre', 'meter', ['', 's']),
  ...words('kilometre', 'kilometer', ['', 's']),
  ...words('litre', 'liter', ['', 's']),
  ...words('fibre', 'fiber', ['', 's']),
  ...words('grey', 'gray', ['', 's', 'ed']),
  ...words('artefact', 'artifact', ['', 's']),
  ...words('judgement', 'judgment', ['', 's']),
  ...words('programme', 'program', ['', 's']),
  ...words('cheque', 'check', ['', 's']),
  ...words('sceptic', 'skeptic', ['', 's', 'al']),
  ...words('analyse', 'analyze', ['', 's', 'd', 'r']),
  ...words('fulfil', 'fulfill', ['', 's', 'ment']),
  ...words('enrol', 'enroll', ['', 's', 'ment']),
  ...words('whilst', 'while', ['']),
  ...words('amongst', 'among', ['']),
  ...words('towards', 'toward', ['']),
  ...words('ageing', 'aging', ['']),
  ...words('learnt', 'learned', ['']),
  ...words('spelt', 'spelled', ['']),
  ...doubledL.flatMap((stem) => [
    ...words(`${stem}led`, `${stem}ed`, ['']),
    ...words(`${stem}ling`, `${stem}ing`, ['']),
    ...words(`${stem}ler`, `${stem}er`, ['', 's']),
  ]),
  ...iseVerbs
    .split(' ')
    .flatMap((stem) => [
      ...words(`${stem}ise`, `${stem}ize`, ['', 's', 'd', 'r', 'rs']),
      ...words(`${stem}ising`, `${stem}izing`, ['']),
      ...words(`${stem}isation`, `${stem}ization`, ['', 's']),
    ]),
];

function words(british, american, endings) {
  return endings.map((ending) => [`${british}${ending}`, `${american}${ending}`]);
}
