import { createContext, type ReactNode } from 'react';

/** Turns `[n]` in a text of the surrounding answer into links to its sources; absent in answers without any. */
export const SourceLinks = createContext<((text: string) => ReactNode) | undefined>(undefined);
