/** Which rows of the list are selected, and from where a range extends. */
export type RowSelection = { ids: ReadonlySet<string>; anchor: string | undefined; isActive: boolean };

export const noSelection: RowSelection = { ids: new Set(), anchor: undefined, isActive: false };

/** Selects or deselects a row. Deselecting the last one ends the selection. */
export function toggleRow(selection: RowSelection, id: string): RowSelection {
  const ids = new Set(selection.ids);
  if (!ids.delete(id)) ids.add(id);
  return { ids, anchor: id, isActive: ids.size > 0 };
}

/** Adds every row between the anchor and `id` to the selection. `order` is the list as shown. */
export function extendTo(selection: RowSelection, id: string, order: readonly string[]): RowSelection {
  const from = selection.anchor === undefined ? -1 : order.indexOf(selection.anchor);
  const to = order.indexOf(id);
  if (to === -1) return selection;
  if (from === -1) return { ids: new Set([...selection.ids, id]), anchor: id, isActive: true };
  const range = order.slice(Math.min(from, to), Math.max(from, to) + 1);
  return { ids: new Set([...selection.ids, ...range]), anchor: selection.anchor, isActive: true };
}
