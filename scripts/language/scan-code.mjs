// Comments and string literals of TypeScript and JavaScript, with the call or property that each string belongs to.

const regexBefore = /(?:[([{,;=:!&|?+*%<>~^-]|\b(?:return|typeof|case|in|of|do|else|await|yield))\s*$/;

/**
 * Tokens in order: `{type: 'comment', text, index}`, and `{type: 'string', text, index, callee, property}` with the
 * callee of the innermost call whose direct argument it is, and the property or variable that it is assigned to. A
 * template's expressions become `…`, and their own strings follow.
 */
export function scanCode(source) {
  const found = [];
  scan(source, 0, found, false);
  return found.sort((one, other) => one.index - other.index);
}

/** Scans from `at`, for a template's expression to its closing brace; returns the index behind it. */
function scan(source, start, found, isExpression) {
  /** Open brackets, innermost last: a callee for those of a call, otherwise ''. */
  const open = [];
  let at = start;
  while (at < source.length) {
    const letter = source[at];
    const next = source[at + 1];
    if (letter === '/' && next === '/') {
      const end = endOf(source, '\n', at);
      found.push({ type: 'comment', text: source.slice(at, end), index: at });
      at = end;
    } else if (letter === '/' && next === '*') {
      const end = endOf(source, '*/', at + 2);
      found.push({ type: 'comment', text: source.slice(at, end), index: at });
      at = end + 2;
    } else if (letter === '/' && regexBefore.test(source.slice(Math.max(0, at - 20), at))) {
      at = endOfRegex(source, at);
    } else if (letter === "'" || letter === '"') {
      at = takeString(source, at, found, open);
    } else if (letter === '`') {
      at = takeTemplate(source, at, found, open);
    } else {
      if (letter === '}' && isExpression && open.length === 0) return at + 1;
      if ('([{'.includes(letter)) open.push(letter === '(' ? calleeBefore(source, at) : '');
      else if (')]}'.includes(letter)) open.pop();
      at += 1;
    }
  }
  return at;
}

function endOf(source, mark, from) {
  const end = source.indexOf(mark, from);
  return end < 0 ? source.length : end;
}

function calleeBefore(source, at) {
  return /([\w.?#$]+)\s*$/.exec(source.slice(Math.max(0, at - 80), at))?.[1] ?? '';
}

function ownerOf(source, at, open) {
  const before = source.slice(Math.max(0, at - 120), at);
  return {
    callee: open.at(-1) ?? '',
    isFirst: /\(\s*$/.test(before),
    property: /([\w$]+)['"]?(?:\s*:\s*string)?\s*[:=]\s*(?:\n\s*)?$/.exec(before)?.[1] ?? '',
  };
}

function takeString(source, at, found, open) {
  const quote = source[at];
  let end = at + 1;
  while (end < source.length && source[end] !== quote && source[end] !== '\n') end += source[end] === '\\' ? 2 : 1;
  // An apostrophe of JSX text.
  if (source[end] !== quote) return at + 1;
  const text = unescaped(source.slice(at + 1, end));
  found.push({ type: 'string', text, index: at, ...ownerOf(source, at, open) });
  return end + 1;
}

function takeTemplate(source, at, found, open) {
  let text = '';
  let end = at + 1;
  while (end < source.length && source[end] !== '`') {
    if (source[end] === '$' && source[end + 1] === '{') {
      text += '…';
      end = scan(source, end + 2, found, true);
    } else {
      const length = source[end] === '\\' ? 2 : 1;
      text += source.slice(end, end + length);
      end += length;
    }
  }
  found.push({ type: 'string', text: unescaped(text), index: at, ...ownerOf(source, at, open) });
  return end + 1;
}

function unescaped(text) {
  return text.replace(/\\(.)/gs, (_, letter) => (letter === 'n' ? '\n' : letter));
}

function endOfRegex(source, at) {
  let isClass = false;
  for (let end = at + 1; end < source.length && source[end] !== '\n'; end += 1) {
    if (source[end] === '\\') end += 1;
    else if (source[end] === '[') isClass = true;
    else if (source[end] === ']') isClass = false;
    else if (source[end] === '/' && !isClass) return end + 1;
  }
  return at + 1;
}
