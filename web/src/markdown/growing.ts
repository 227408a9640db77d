import { createContext } from 'react';

/** Whether the surrounding message is still streaming. */
export const GrowingContext = createContext(false);
