import { type ComponentProps, useLayoutEffect, useRef } from 'react';
import classes from './autosize.module.css';

const growsByItself = CSS.supports('field-sizing', 'content');

/** A text field that is as high as its text, up to the limit its class sets. */
export function Autosize({ className, ...props }: ComponentProps<'textarea'>) {
  const own = useRef<HTMLTextAreaElement>(null);
  const { ref = own } = props;
  // The height depends on the text
  useLayoutEffect(() => {
    const field = typeof ref === 'function' ? null : ref?.current;
    if (growsByItself || !field) return;
    field.style.height = 'auto';
    field.style.height = `${field.scrollHeight}px`;
  }, [props.value, ref]);
  return <textarea rows={1} dir="auto" {...props} ref={ref} className={`${classes.field} ${className ?? ''}`} />;
}
