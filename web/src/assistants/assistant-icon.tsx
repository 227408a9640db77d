import classes from './assistants.module.css';

/** The picture, emoji or first letter of an assistant. Its name stands beside it. */
export function AssistantIcon({
  icon,
  name,
  isLarge = false,
}: {
  icon: string | null;
  name: string;
  isLarge?: boolean;
}) {
  const isPicture = icon?.startsWith('data:') === true;
  return (
    <span
      className={classes.icon}
      data-large={isLarge || undefined}
      data-letter={icon === null || undefined}
      aria-hidden
    >
      {isPicture ? <img src={icon} alt="" /> : (icon ?? Array.from(name.trim())[0]?.toUpperCase() ?? '?')}
    </span>
  );
}
