// Violations of the language rules in one text: `{rule, fragment, hint, offset}`.
import { idioms, spellings } from './word-rules.mjs';

const opener =
  /^(?:and |but |or |so |then )?(What|Who|Whose|Whom|Whoever|Whatever|Whichever|Where|Wherever|Those|Nobody)\b(?!['’]s new)/i;
const openerHint = 'begin with a noun or a verb that says what the thing is or does';
/** A clause whose subject is a free relative, within a sentence. */
const innerClause =
  /(?:[:;]\s+|[,:;]\s+(?:and|but|so|or)\s+|,\s+(?=what\b))(what|who|whose|whoever|whatever|those)\s+(?:(?:is|are|was|were|has|had|have|can|cannot|can't|could|did|does|do|comes|came|goes|went|stands|stays|needs|makes|a|an|the|it|they)\b|\w+(?:s|ed)\b)/gi;
/** "What is left is …": a clause with "what" that is a subject after a conjunction or at a clause's beginning. */
const whatAsSubject =
  /\b(?:that|because|while|when|if|until|before|after|as|and|but)\s+(what (?:is|are|was|were|has|had|comes|came|a|the)\b[^.?!]*)/gi;
const emphasis = /[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}/g;

/** `kind` as in units.mjs: prose of pages is checked for spelling only. */
export function findingsIn(kind, text) {
  const words = withoutCode(text);
  const found = spellingIn(words);
  if (kind === 'docs') return found;
  for (const { sentence, offset } of sentencesOf(words)) {
    if (sentence.endsWith('?')) continue;
    found.push(...openersIn(sentence, offset, kind));
    for (const [pattern, hint] of idioms) {
      for (const match of sentence.matchAll(new RegExp(pattern, 'gi'))) {
        found.push({ rule: 'idiom', fragment: match[0], hint, offset: offset + match.index });
      }
    }
  }
  return found.sort((one, other) => one.offset - other.offset);
}

function openersIn(sentence, offset, kind) {
  const found = [];
  const bare = sentence.replace(/^[\s\-–—*•"'“‘([{]+/, '');
  const first = opener.exec(bare);
  // SQL and headings of tables are written in capitals.
  if (first !== null && first[1] !== first[1].toUpperCase()) {
    const start = offset + sentence.length - bare.length;
    found.push({ rule: 'opener', fragment: shortened(bare), hint: openerHint, offset: start });
  }
  const patterns = kind === 'heading' ? [innerClause] : [innerClause, whatAsSubject];
  for (const pattern of patterns) {
    for (const match of sentence.matchAll(pattern)) {
      const index = match.index + match[0].toLowerCase().indexOf(match[1].toLowerCase());
      const fragment = shortened(sentence.slice(index));
      found.push({ rule: 'clause', fragment, hint: 'name the subject of the clause', offset: offset + index });
    }
  }
  return found;
}

function spellingIn(words) {
  const found = [];
  for (const match of words.matchAll(spelling)) {
    const hint = american.get(match[0].toLowerCase());
    found.push({ rule: 'spelling', fragment: match[0], hint, offset: match.index });
  }
  return found;
}

const american = new Map(spellings);
// Not in identifiers, paths, addresses and quoted values.
const spelling = new RegExp(
  `(?<![\\w/.$#@'"-])(?:${[...american.keys()].join('|')})(?![\\w'"(/=]|-\\w|\\.\\w|:\\w)`,
  'gi',
);

/** Sentences with their offsets, of paragraphs and list items. */
function* sentencesOf(text) {
  const end = /(?<=[.!?…])["”’)\]]*\s+(?=["“‘([]*[\p{Lu}`])|\n\s*\n|\n(?=\s*[-*•]\s)|(?<=^|\n)\s*@\w+|:\s*\n/gu;
  let offset = 0;
  for (const match of [...text.matchAll(end), { index: text.length, 0: '' }]) {
    const raw = text.slice(offset, match.index);
    const sentence = raw.replace(/\s+$/, '');
    const lead = sentence.length - sentence.trimStart().length;
    if (sentence.trim() !== '') yield { sentence: sentence.trimStart().replace(/\n/g, ' '), offset: offset + lead };
    offset = match.index + match[0].length;
  }
}

/** The text with code spans, quotations, addresses and template expressions blanked out, at unchanged offsets. */
function withoutCode(text) {
  return text
    .replace(/`[^`]*`/g, blank)
    .replace(/"[^"\n]{1,120}"|“[^”\n]{1,120}”/g, blank)
    .replace(/\bhttps?:\/\/\S+/g, blank)
    .replace(/\{\{?[^}\n]*\}\}?/g, blank)
    .replace(emphasis, (mark) => ' '.repeat(mark.length));
}

/** Keeps the place of the words as one name. */
function blank(match) {
  return 'X'.repeat(match.length);
}

function shortened(text) {
  return text.length <= 60 ? text : `${text.slice(0, 59)}…`;
}
