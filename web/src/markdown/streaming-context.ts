import { createContext } from 'react';

/** Whether the surrounding message is still streaming. */
export const StreamingContext = createContext(false);
