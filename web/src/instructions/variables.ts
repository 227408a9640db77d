/** Variables that the server fills in for each answer; other text in double braces stays as typed. */
export const variableNames = ['user_name', 'current_date', 'language', 'timezone'] as const;
export type VariableName = (typeof variableNames)[number];

export type UnknownVariable = {
  /** The match in the text, braces included. */
  text: string;
  /** The variable that was probably meant. */
  meant: VariableName | undefined;
};

const inBraces = /\{\{([^{}\n]{1,100})\}\}/g;

/** Names of these variables in other products, without case, spaces and underscores. */
const otherNames: Readonly<Record<VariableName, readonly string[]>> = {
  user_name: ['username', 'user', 'name', 'currentuser'],
  current_date: ['currentdate', 'date', 'today', 'currentdatetime', 'currenttime', 'currentweekday'],
  language: ['language', 'lang', 'userlanguage', 'locale'],
  timezone: ['timezone', 'usertimezone', 'currenttimezone', 'tz'],
};

/** How a variable is written. */
export function variableText(name: VariableName): string {
  return `{{${name}}}`;
}

/** Unsupported variables in double braces, each once, in the order of the text. */
export function unknownVariables(text: string): UnknownVariable[] {
  const found = new Map<string, UnknownVariable>();
  for (const [whole, inside = ''] of text.matchAll(inBraces)) {
    const name = inside.trim();
    if (name === '' || variableNames.some((known) => known === name)) continue;
    found.set(whole, { text: whole, meant: meantBy(name) });
  }
  return [...found.values()];
}

function meantBy(name: string): VariableName | undefined {
  const plain = name.toLowerCase().replace(/[\s_.-]/g, '');
  return variableNames.find((known) => otherNames[known].includes(plain));
}
