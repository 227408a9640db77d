import { createContext } from 'react';

/** Files of the workspace that the surrounding conversation knows, as `~/folder/file`; texts that name one link to it. */
export const FilePaths = createContext<ReadonlySet<string>>(new Set());
