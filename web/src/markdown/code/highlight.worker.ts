import { createCssVariablesTheme, createHighlighterCore, type HighlighterCore, type ThemedToken } from 'shiki/core';
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript';
import { loadGrammar } from './grammars.ts';
import { type HighlightAnswer, type HighlightedLine, type HighlightRequest, tokenKinds } from './highlight-protocol.ts';

/** The page sets the colors; the theme only names each token's kind. */
const theme = createCssVariablesTheme({ name: 'kinds', variablePrefix: '--kind-', fontStyle: false });
const maximumLine = 2_000;
/** A line that takes longer keeps its rest plain; code that takes too long in total is ended from outside. */
const millisecondsPerLine = 1_500;

const names: readonly (string | undefined)[] = tokenKinds;

let highlighter: Promise<HighlighterCore> | undefined;

self.addEventListener('message', (event: MessageEvent<HighlightRequest>) => {
  const { id } = event.data;
  highlight(event.data).then(
    (lines) => answer({ id, lines }),
    () => answer({ id, lines: null }),
  );
});

async function highlight({ code, grammar }: HighlightRequest): Promise<HighlightedLine[]> {
  highlighter ??= createHighlighterCore({ themes: [theme], engine: createJavaScriptRegexEngine({ forgiving: true }) });
  const core = await highlighter;
  if (!core.getLoadedLanguages().includes(grammar)) await core.loadLanguage(await loadGrammar(grammar));
  const tokenize = () =>
    core.codeToTokens(code, {
      lang: grammar,
      theme: 'kinds',
      tokenizeMaxLineLength: maximumLine,
      tokenizeTimeLimit: millisecondsPerLine,
    }).tokens;
  const startedAt = performance.now();
  const tokens = tokenize();
  // On a slow machine, lines are cut while patterns are compiled for them; the second time all patterns are.
  const isSlow = performance.now() - startedAt > millisecondsPerLine;
  return (isSlow ? tokenize() : tokens).map(toLine);
}

/** Neighbors of one kind become one piece, which halves the number of elements. */
function toLine(tokens: readonly ThemedToken[]): HighlightedLine {
  const line: [string, number][] = [];
  for (const token of tokens) {
    const kind = kindOf(token);
    const last = line.at(-1);
    if (last && (last[1] === kind || token.content.trim() === '')) last[0] += token.content;
    else line.push([token.content, kind]);
  }
  return line;
}

function kindOf({ color }: ThemedToken): number {
  const name = /--kind-token-([\w-]+)/.exec(color ?? '')?.[1];
  return Math.max(0, names.indexOf(name));
}

function answer(message: HighlightAnswer): void {
  self.postMessage(message);
}
