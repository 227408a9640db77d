/** How wide panels beside a conversation are, in rem, as the person drew them; kept by the browser. */
export type PanelKind = 'usual' | 'wide';

export const panelWidths = { min: 18, max: 90, usual: 30, wide: 44 } as const;

const keyOf = (kind: PanelKind): string => `panel-width:${kind}:v1`;

/** Stored width in CSS pixels; undefined for the style sheet's default. */
export function readPanelWidth(kind: PanelKind): number | undefined {
  const stored = localStorage.getItem(keyOf(kind));
  const width = stored === null ? Number.NaN : Number(stored);
  return Number.isFinite(width) ? clampPanelWidth(width) : undefined;
}

export function writePanelWidth(kind: PanelKind, width: number | undefined): void {
  try {
    if (width === undefined) localStorage.removeItem(keyOf(kind));
    else localStorage.setItem(keyOf(kind), String(width));
  } catch {
    // It holds until the panel is closed.
  }
}

export function clampPanelWidth(width: number): number {
  return Math.round(Math.min(panelWidths.max, Math.max(panelWidths.min, width)) * 10) / 10;
}
