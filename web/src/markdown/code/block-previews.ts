import { type ComponentType, createContext } from 'react';
import type { PreviewKind } from './preview-kind.ts';

export type BlockPreviewProps = { kind: PreviewKind; code: string; language: string; onShown: () => void };

/** The component that previews code blocks; without one they have no preview. */
export const BlockPreviews = createContext<ComponentType<BlockPreviewProps> | null>(null);
