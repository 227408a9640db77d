import type { AboutMe } from '@homeport/contracts/accounts/accounts';
import type { InstructionLayer } from '@homeport/contracts/chat/context';

/** Text that people wrote for each layer, and the facts for the layer `moment`. */
export type InstructionSources = {
  installation: string;
  assistant: { name: string; text: string } | undefined;
  project: { name: string; text: string } | undefined;
  person: string | null;
  conversation: string | null;
  about: Partial<AboutMe>;
  userName: string;
  /** The names of the tools of this turn. */
  tools: readonly string[];
  hasWorkspace: boolean;
  /** Texts contributed by tools. */
  toolNotes: readonly { layer: 'moment' | 'skills'; text: string }[];
  /** The time of the turn, in milliseconds since 1970. */
  now: number;
};

/** A layer as it is sent, its heading included. */
export type InstructionText = { layer: InstructionLayer; text: string };

const variable = /\{\{\s*(user_name|current_date|language|timezone)\s*\}\}/g;

/**
 * Returns the instruction layers in their order: stable ones first, so that a provider can cache the beginning, and the
 * date without a time. Empty layers are omitted; the layer `moment` is always present.
 */
export function instructionTexts(sources: InstructionSources): InstructionText[] {
  const values = variableValues(sources);
  const fill = (text: string): string =>
    text.replace(variable, (whole, name: string) => values.get(name) ?? whole).trim();
  const layer = (name: InstructionLayer, heading: string, text: string | null | undefined): InstructionText[] => {
    const filled = fill(text ?? '');
    return filled === '' ? [] : [{ layer: name, text: heading === '' ? filled : `# ${heading}\n\n${filled}` }];
  };
  const { assistant, project } = sources;
  return [
    ...layer('installation', '', sources.installation),
    ...layer('assistant', `You are "${assistant?.name ?? ''}"`, assistant?.text),
    ...layer('project', `The project "${project?.name ?? ''}"`, project?.text),
    ...layer('person', 'From the person you are talking to', sources.person),
    ...layer('conversation', 'For this conversation', sources.conversation),
    { layer: 'moment', text: [momentText(sources), ...notesOf(sources, 'moment')].join('\n\n') },
    ...notesOf(sources, 'skills').map((text) => ({ layer: 'skills' as const, text })),
  ];
}

function notesOf({ toolNotes }: InstructionSources, layer: 'moment' | 'skills'): string[] {
  return toolNotes.filter((one) => one.layer === layer).map(({ text }) => text);
}

/** The system message of these layers. */
export function systemText(layers: readonly InstructionText[]): string {
  return layers.map(({ text }) => text).join('\n\n');
}

const dayFormat = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' } as const;
/** Formatted days by time zone: formatting a day takes longer than building all other instructions. */
const days = new Map<string, { format: Intl.DateTimeFormat; quarter: number; text: string }>();
const daysMax = 100;
/** Days begin at a quarter of an hour everywhere. */
const quarterMs = 15 * 60_000;

/** Formats the day in the person's time zone if they share it. */
function dateText({ about, now }: Pick<InstructionSources, 'about' | 'now'>): string {
  const timeZone = about.timeZone ?? 'UTC';
  const quarter = Math.floor(now / quarterMs);
  const known = days.get(timeZone);
  if (known?.quarter === quarter) return known.text;
  const format = known?.format ?? new Intl.DateTimeFormat('en-GB', { ...dayFormat, timeZone });
  const text = format.format(now);
  if (days.size >= daysMax) days.clear();
  days.set(timeZone, { format, quarter, text });
  return text;
}

function variableValues(sources: InstructionSources): Map<string, string> {
  const { about, userName } = sources;
  return new Map([
    ['user_name', about.name === true ? userName : 'the person'],
    ['current_date', dateText(sources)],
    ['language', about.language ? languageName(about.language) : "the person's language"],
    ['timezone', about.timeZone ?? 'UTC'],
  ]);
}

function momentText(sources: InstructionSources): string {
  const { about, userName, tools, hasWorkspace } = sources;
  const facts = [
    ...(hasWorkspace ? [workspaceText] : []),
    ...(tools.length === 0 ? ['You have no tools.'] : [`Your tools: ${tools.join(', ')}.`]),
    ...(about.name === true ? [`The person's name is ${userName}.`] : []),
    ...(about.language ? [`They prefer answers in ${languageName(about.language)}.`] : []),
    ...(about.timeZone ? [`Their time zone is ${about.timeZone}.`] : []),
    `Today is ${dateText(sources)}.`,
  ];
  return `# Now\n\n${facts.map((fact) => `- ${fact}`).join('\n')}`;
}

const workspaceText =
  'You have a workspace: a computer that belongs to the person, with a shell and files. Its home folder is kept between ' +
  'conversations. Work in the home folder. Hand over finished files with publish_artifact: the person does not see files in the ' +
  'conversation that exist only in the workspace.';

const languages = new Intl.DisplayNames('en', { type: 'language', fallback: 'code' });

function languageName(tag: string): string {
  try {
    return languages.of(tag) ?? tag;
  } catch {
    return tag;
  }
}
