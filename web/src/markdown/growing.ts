import { createContext } from 'react';

/** Whether the message around still streams in. */
export const GrowingContext = createContext(false);
