/** Gaps of a resource's address (RFC 6570) that a person can fill. */
export type FilledTemplate = Record<string, string>;

const gap = /\{([+#./;?&]?)([\w.,%*:]+)\}/g;

/** The names in a template, each once. */
export function templateNames(template: string): string[] {
  const names = [...template.matchAll(gap)].flatMap(([, , list = '']) => list.split(',').map(plainName));
  return [...new Set(names.filter((name) => name !== ''))];
}

/** The address, or undefined while something in its path is missing. */
export function fillTemplate(template: string, values: FilledTemplate): string | undefined {
  let isWhole = true;
  const filled = template.replace(gap, (_, operator: string, list: string) => {
    const isQuery = operator === '?' || operator === '&';
    const parts = list.split(',').flatMap((entry) => {
      const name = plainName(entry);
      const value = values[name] ?? '';
      if (value === '' && !isQuery) isWhole = false;
      if (value === '') return [];
      const encoded = operator === '+' || operator === '#' ? encodeURI(value) : encodeURIComponent(value);
      return [isQuery || operator === ';' ? `${name}=${encoded}` : encoded];
    });
    if (parts.length === 0) return '';
    const joint = operator === '' || operator === '+' || operator === '#' ? ',' : operator === '?' ? '&' : operator;
    return (operator === '+' ? '' : operator) + parts.join(joint);
  });
  return isWhole ? filled : undefined;
}

function plainName(entry: string): string {
  return beforeFirst(beforeFirst(entry, '*'), ':');
}

import { beforeFirst } from '@homeport/contracts/text/trim-characters';
