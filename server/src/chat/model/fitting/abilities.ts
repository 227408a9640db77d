import type { ModelRequest } from '../protocol.ts';
import type { ProviderDialect } from '../provider-dialect.ts';
import type { ChatMessage, ContentPart } from '../provider-messages.ts';
import { parseHistory } from '../request-parts.ts';

/** Tools and pictures, which some models don't take: as their facts say, or as a refusal said. */

const pictureNote = '[A picture was left out: this model doesn’t take pictures]';
const unknownNote = '[A picture was left out: it is not known whether this model takes pictures]';
const textMax = 4_000;

/** The request without what the model does not take. */
export function fitAbilities(request: ModelRequest, dialect: ProviderDialect): ModelRequest {
  const hasTools = dialect.tools && request.abilities?.tools !== false;
  const hasImages = dialect.images && request.abilities?.images !== false;
  const fitted = hasTools || request.tools === undefined ? request : { ...request, tools: [] };
  if (!hasImages) return withoutPictures(fitted);
  return request.abilities?.images === true ? fitted : withoutToolPictures(fitted);
}

/** Pictures of tools go only to models that are known to take pictures, as no person chose to send them. */
function withoutToolPictures(request: ModelRequest): ModelRequest {
  if (!request.messages.some((message) => message.role === 'tool' && message.pictures !== undefined)) return request;
  return { ...request, messages: request.messages.map((message) => notedResult(message, unknownNote)) };
}

function notedResult(message: ChatMessage, note: string): ChatMessage {
  if (message.role !== 'tool' || message.pictures === undefined) return message;
  const { pictures, ...plain } = message;
  return { ...plain, content: [plain.content, ...pictures.map(() => note)].join('\n') };
}

export type LackingAbility = 'tools' | 'images';

/** Abilities that a request would use and a server has refused. */
export function lackingFor(request: ModelRequest, dialect: ProviderDialect): LackingAbility[] {
  const lacking: LackingAbility[] = [];
  if (!dialect.tools && (request.tools?.length ?? 0) > 0) lacking.push('tools');
  if (!dialect.images && hasPictures(request)) lacking.push('images');
  return lacking;
}

/** Pictures become notes, as in a request whose pictures were refused. */
export function withoutPictures(request: ModelRequest, note = pictureNote): ModelRequest {
  const history = request.history ?? '';
  return {
    ...request,
    history: hasPicture(history) ? JSON.stringify(parseHistory(history).map(toNotes)).slice(1, -1) : request.history,
    messages: request.messages.map(toNotes),
  };

  function toNotes(message: ChatMessage): ChatMessage {
    if (message.role === 'tool') return notedResult(message, note);
    if (message.role !== 'user' || typeof message.content === 'string') return message;
    const content = message.content.map(
      (part): ContentPart => (part.type === 'image_url' ? { type: 'text', text: note } : part),
    );
    const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
    // Models without pictures often take plain strings only.
    return { role: 'user', content: texts.length === content.length ? texts.join('\n\n') : content };
  }
}

function hasPictures({ history = '', messages }: ModelRequest): boolean {
  return (
    hasPicture(history) || hasPicture(JSON.stringify(messages.filter(({ role }) => role === 'user' || role === 'tool')))
  );
}

function hasPicture(json: string): boolean {
  return json.includes('"type":"image_url"');
}

const refusesAbility =
  /\bnot? (?:be )?(?:support|enabled|available|allowed|implement|a multi)|n['’]t (?:support|take|accept|allow|have)|\bunsupported\b|requires? (?:--|\S{1,3}--)|no endpoints found|only supported by|\bmissing data\b|not a vision|is disabled/;
const aboutTools =
  /\b(?:tools?|functions?)\b[ _-]?(?:us(?:e|age)\b|call(?:s|ing)?\b|choice\b|params?\b)?|--jinja|--enable-auto-tool-choice/;
/** About one definition or one member of it, which is learned for the tool alone. */
const aboutOneTool =
  /schema|tools?\[\d|tools?\.\d|\bparameters?\b.{0,40}\btype\b|properties|\bstrict\b|parallel|tool_call_id/;

/** True if the refusal said that the model takes no tools; the dialect is then changed. */
export function learnNoTools(dialect: ProviderDialect, sent: ModelRequest, refusal: string): boolean {
  const text = refusal.slice(0, textMax).toLowerCase();
  if (!dialect.tools || (sent.tools?.length ?? 0) === 0) return false;
  if (!aboutTools.test(text) || !refusesAbility.test(text) || aboutOneTool.test(text)) return false;
  dialect.tools = false;
  return true;
}

const aboutPictures = /image|vision|multi-?modal|picture|mmproj/;
const aboutText =
  /unknown variant|expected .{0,3}text|must be .{0,3}text|content must be a string|content should be a (?:valid )?string|input should be a valid string|invalid content type|modality|at most 0 /;
/** About this picture, not about pictures. */
const aboutOnePicture =
  /too (?:large|big|small|many)|exceed|dimension|pixel|corrupt|decod|invalid (?:image|base64)|could not process|unable to process|image format|media[ _]type|mime|unsupported image|resolution|bytes|download|fetch/;

/**
 * `never`: the refusal said that the model takes no pictures, and the dialect is changed. `these`: the server refused
 * the pictures of this request.
 */
export function learnNoPictures(
  dialect: ProviderDialect,
  sent: ModelRequest,
  refusal: string,
): 'never' | 'these' | undefined {
  const text = refusal.slice(0, textMax).toLowerCase();
  if (!dialect.images || !hasPictures(sent)) return undefined;
  const isAbout = aboutPictures.test(text);
  if (isAbout && aboutOnePicture.test(text)) return 'these';
  if (!(isAbout && refusesAbility.test(text)) && !aboutText.test(text)) return undefined;
  dialect.images = false;
  return 'never';
}
