import { type Piece, partsOf } from './pieces.ts';
import { ConversationRefused, importBounds, type ReadMessage } from './read-conversation.ts';
import { justAfter } from './values.ts';

/** A message as the other program keeps it. A hidden one, or one without content, leaves its children to its parent. */
export type TreeNode = {
  id: string;
  parentId: string | null;
  role: 'user' | 'assistant' | 'hidden';
  pieces: Piece[];
  createdAt: string | null;
  model: string | null;
  error?: string;
};

export type Tree = { messages: ReadMessage[]; activeId: string | null };

type Group = {
  first: TreeNode;
  parent: Group | null;
  pieces: Piece[];
  model: string | null;
  error: string | undefined;
};

/**
 * The messages of a conversation, parents first. Links come from `parentId` alone; circles are cut where they begin.
 * Consecutive nodes of one answer become one message.
 */
export function treeOf(nodes: readonly TreeNode[], current: string | undefined, begun: string | null): Tree {
  if (nodes.length > importBounds.nodes) {
    throw new ConversationRefused(`it has more than ${importBounds.nodes} messages`);
  }
  const known = new Map<string, TreeNode>();
  for (const node of nodes) if (!known.has(node.id)) known.set(node.id, node);
  const anchors = findAnchors(known);
  const children = new Map<string | null, TreeNode[]>();
  for (const node of known.values()) {
    if (!isKept(node)) continue;
    const parent = anchorAbove(node, known, anchors);
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [node]);
    else siblings.push(node);
  }
  const { groups, groupOf } = group(children);
  const messages = toMessages(groups, begun);
  const shown = current === undefined || !known.has(current) ? undefined : groupOf.get(anchors.get(current) ?? '');
  const activeId = shown?.first.id ?? messages.at(-1)?.sourceId ?? null;
  return { messages, activeId };
}

function isKept(node: TreeNode): boolean {
  return node.role !== 'hidden' && (node.pieces.length > 0 || node.error !== undefined);
}

/** For each node the nearest kept one at or above it; null where there is none. */
function findAnchors(known: ReadonlyMap<string, TreeNode>): Map<string, string | null> {
  const anchors = new Map<string, string | null>();
  const cutOff = new Set<string>();
  for (const start of known.keys()) {
    const path: TreeNode[] = [];
    const onPath = new Set<string>();
    let at: TreeNode | undefined = known.get(start);
    while (at !== undefined && !anchors.has(at.id)) {
      path.push(at);
      onPath.add(at.id);
      const parent: TreeNode | undefined = at.parentId === null ? undefined : known.get(at.parentId);
      if (parent !== undefined && onPath.has(parent.id)) {
        cutOff.add(at.id);
        at.parentId = null;
        break;
      }
      at = parent;
    }
    let anchor = at === undefined || cutOff.has(at.id) ? null : (anchors.get(at.id) ?? null);
    for (const node of path.reverse()) {
      if (isKept(node)) anchor = node.id;
      anchors.set(node.id, anchor);
    }
  }
  return anchors;
}

function anchorAbove(
  node: TreeNode,
  known: ReadonlyMap<string, TreeNode>,
  anchors: ReadonlyMap<string, string | null>,
): string | null {
  return node.parentId === null || !known.has(node.parentId) ? null : (anchors.get(node.parentId) ?? null);
}

/** Walks down from the roots, siblings in the order of the archive. */
function group(children: ReadonlyMap<string | null, TreeNode[]>) {
  const groups: Group[] = [];
  const groupOf = new Map<string, Group>();
  const waiting = (children.get(null) ?? []).map((node) => ({ node, above: null as Group | null })).reverse();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node, above } = next;
    const isOnly = above !== null && children.get(lastIn(above))?.length === 1;
    let own = above;
    if (above !== null && isOnly && node.role === 'assistant' && above.first.role === 'assistant') {
      above.pieces.push(...node.pieces);
      above.model ??= node.model;
      above.error = node.error ?? above.error;
      lasts.set(above, node.id);
    } else {
      own = { first: node, parent: above, pieces: [...node.pieces], model: node.model, error: node.error };
      lasts.set(own, node.id);
      groups.push(own);
    }
    if (own !== null) groupOf.set(node.id, own);
    for (const child of [...(children.get(node.id) ?? [])].reverse()) waiting.push({ node: child, above: own });
  }
  return { groups, groupOf };
}

/** The last node that went into a group. */
const lasts = new WeakMap<Group, string>();
const lastIn = (of: Group): string => lasts.get(of) ?? of.first.id;

function toMessages(groups: readonly Group[], begun: string | null): ReadMessage[] {
  const times = new Map<Group, string | null>();
  return groups.map((each) => {
    const { first, parent, pieces, model, error } = each;
    const createdAt = first.createdAt ?? (parent === null ? begun : justAfter(times.get(parent) ?? begun));
    times.set(each, createdAt);
    return {
      sourceId: first.id,
      parentId: parent === null ? null : parent.first.id,
      role: first.role === 'user' ? 'user' : 'assistant',
      parts: partsOf(pieces),
      createdAt,
      model: first.role === 'user' ? null : model,
      status: error === undefined ? 'complete' : 'failed',
      error: error === undefined ? null : { code: 'provider_error', message: error },
      usage: null,
    };
  });
}
