"""What the demo's generated world can say: a closed set of meanings, each with a few phrases.

A `Topic` is a question that can be asked as a choice: its meanings have phrases for states, a label and a description
for options, and yes/no questions. A `Scale` has levels from low to high. Every fifth phrase is kept for held-out text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Meaning:
    label: str
    description: str
    ask: tuple[str, ...]  # yes/no questions that are true of this meaning only
    phrases: tuple[str, ...]


@dataclass(frozen=True)
class Topic:
    ask: tuple[str, ...]
    meanings: tuple[Meaning, ...]


@dataclass(frozen=True)
class Scale:
    ask: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]  # spellings of each level
    phrases: tuple[tuple[str, ...], ...]  # for states, per level


def cross(*pairs: tuple[str, str]) -> tuple[str, ...]:
    """Phrases from pairs of alternatives: "a|b", "c|d" gives "a c", "a d", "b c", "b d"."""
    return tuple(
        f"{x} {y}".strip()
        for left, right in pairs
        for x in left.split("|")
        for y in right.split("|")
    )


ISSUE = Topic(
    ("Which team should handle this?", "What is the message about?"),
    (
        Meaning(
            "billing",
            "Charges, refunds, invoices",
            ("Is this about billing?", "Is this about a payment?"),
            cross(
                (
                    "I was charged|my card was charged|I was billed|my card was billed",
                    "twice|again|too much|two times",
                ),
                (
                    "the invoice|the bill|the charge|my last invoice",
                    "is wrong|is too high|shows the wrong amount|was paid already",
                ),
            ),
        ),
        Meaning(
            "delivery",
            "Parcels and shipping",
            ("Is this about delivery?", "Is this about a parcel?"),
            cross(
                (
                    "my parcel|the package|my shipment|the parcel",
                    "is late|has not arrived|was lost|is still on its way",
                ),
                (
                    "the courier|the driver|the postman",
                    "never came|lost my parcel|took the package back|went to the wrong house",
                ),
            ),
        ),
        Meaning(
            "damage",
            "Broken or faulty goods",
            ("Is this about damage?", "Is something broken?"),
            cross(
                (
                    "the screen|the lamp|the handle|the lid|the glass",
                    "is broken|has a crack|came off|arrived in pieces",
                ),
                (
                    "the machine|the kettle|the blender",
                    "leaks|stopped working|is broken|makes a loud noise",
                ),
            ),
        ),
        Meaning(
            "account",
            "Login and password trouble",
            ("Is this about an account?", "Is this about a login?"),
            cross(
                (
                    "my password|my login|my user name",
                    "does not work|was refused|is not accepted|has expired",
                ),
                (
                    "I cannot|I am not able to|I fail to",
                    "log in|open my account|change my password|sign in",
                ),
            ),
        ),
        Meaning(
            "technical_support",
            "App or site faults",
            ("Is this about technical support?", "Is the app or the site failing?"),
            cross(
                ("the app|your app|the program", "crashes|freezes|closes by itself|shows an error"),
                (
                    "the website|the page|your site",
                    "does not load|is very slow|shows an error|stays white",
                ),
            ),
        ),
        Meaning(
            "cancellation",
            "Ending a contract",
            ("Is this about a cancellation?", "Does the writer want to cancel?"),
            cross(
                (
                    "I want to cancel|please cancel|I wish to end|please end",
                    "my subscription|my contract|my plan|my membership",
                ),
                (
                    "I do not want to renew|I will not renew",
                    "my subscription|my contract|my plan|my membership",
                ),
            ),
        ),
    ),
)

WISH = Topic(
    ("What does the customer want?",),
    (
        Meaning(
            "refund",
            "Money back",
            ("Is the customer asking for a refund?",),
            cross(
                (
                    "I want|please give me|I expect|I would like",
                    "a refund|my money back|a full refund|the money back",
                )
            ),
        ),
        Meaning(
            "replacement",
            "A new one in exchange",
            ("Is the customer asking for a replacement?",),
            cross(
                (
                    "please send|I want|I need|I would like",
                    "a new one|a replacement|another one|an exchange",
                )
            ),
        ),
        Meaning(
            "call",
            "A phone call",
            ("Is the customer asking for a call?",),
            cross(
                (
                    "please call me|call me back|please phone me|give me a call",
                    "soon|on my phone|at home|after work",
                )
            ),
        ),
        Meaning(
            "answer",
            "Information only",
            ("Is the customer only asking for an answer?",),
            cross(
                (
                    "please tell me|I only want to know|can you explain|please explain",
                    "why|what happened|how this works|what I can do",
                )
            ),
        ),
    ),
)

URGENCY = Scale(
    ("How urgent is this?", "How soon must this be done?"),
    (("Can wait", "No hurry"), ("This week", "In a few days"), ("Today", "At once")),
    (
        cross(
            (
                "There is no hurry.|Take your time.|It can wait.|It is not urgent.",
                "It is only a question.|No rush.|Whenever you like.|",
            )
        ),
        cross(
            (
                "I need it|Please do it|Please answer",
                "this week.|by Friday.|in a few days.|before the weekend.",
            )
        ),
        cross(
            (
                "I need this|Please do this|Please fix this",
                "today!|right now!|at once!|immediately!",
            )
        ),
    ),
)

TONE = Scale(
    ("How angry is the writer?", "How upset does this sound?"),
    (("Calm and friendly", "Friendly"), ("Annoyed", "Somewhat annoyed"), ("Furious", "Very angry")),
    (
        cross(
            (
                "Thank you|Many thanks",
                "for your help.|for your work.|and kind regards.|and have a nice day.",
            )
        ),
        cross(("This is|I find this|That is", "annoying.|disappointing.|not so nice.|a pity.")),
        cross(
            ("This is|I find this|That is", "outrageous!|a disgrace!|unacceptable!|too much!"),
            ("I am", "furious!|so angry!"),
        ),
    ),
)

POST = Topic(
    ("What kind of message is this?", "Which rule fits this message?"),
    (
        Meaning(
            "friendly",
            "Kind or harmless words",
            ("Is this message friendly?",),
            cross(
                (
                    "what a|this is a|that was a",
                    "lovely picture|wonderful garden|great concert|delicious soup|nice song",
                )
            ),
        ),
        Meaning(
            "insult",
            "Insults a person",
            ("Is this message an insult?", "Is this message insulting?"),
            cross(
                (
                    "you are a|what a|shut up, you|nobody likes you,",
                    "stupid idiot|ugly clown|worthless loser|pathetic liar",
                )
            ),
        ),
        Meaning(
            "spam",
            "Advertising or a trick",
            ("Is this message spam?", "Is this advertising?"),
            cross(
                (
                    "click here for|visit our shop for|buy now:|order online:",
                    "cheap watches|free phones|cheap pills|easy money",
                )
            ),
        ),
        Meaning(
            "threat",
            "Threatens harm",
            ("Is this message a threat?", "Does this threaten someone?"),
            cross(
                (
                    "I will|we will|tonight I will",
                    "hurt you|burn your house|break your legs|find you and beat you",
                )
            ),
        ),
        Meaning(
            "private_data",
            "Gives away private data",
            ("Does this message give away private data?",),
            cross(
                (
                    "her phone number|his card number|her account number|his pin",
                    "is 555 0142|is 4111 2222|is 7730 9910|is 4821",
                )
            ),
        ),
    ),
)

# How severe each kind of message is, in the order of POST.
POST_SEVERITY = (0, 2, 1, 2, 1)
SEVERITY = Scale(
    ("How severe is this message?", "How harmful is this message?"),
    (("Harmless", "No harm"), ("Unwanted", "Some harm"), ("Harmful", "Great harm")),
    ((), (), ()),
)

SYSTEM = Topic(
    ("Which system has failed?", "Which part is affected?"),
    (
        Meaning(
            "database",
            "Stored data and queries",
            ("Is the database affected?",),
            cross(
                (
                    "the database|a database table|the database disk",
                    "is down|is locked|is full|does not answer",
                )
            ),
        ),
        Meaning(
            "network",
            "Lines, routers, connections",
            ("Is the network affected?",),
            cross(
                (
                    "the network|the router|the network line",
                    "is down|is cut|drops out|does not answer",
                )
            ),
        ),
        Meaning(
            "payments",
            "Card payments and checkout",
            ("Are payments affected?",),
            cross(
                (
                    "the payment service|the checkout|the card reader",
                    "is down|declines cards|fails|does not answer",
                )
            ),
        ),
        Meaning(
            "mail",
            "Incoming and outgoing mail",
            ("Is mail affected?",),
            cross(
                (
                    "the mail server|the inbox|the mail queue",
                    "is down|is full|stays empty|does not answer",
                )
            ),
        ),
        Meaning(
            "printing",
            "Printers and paper",
            ("Is printing affected?",),
            cross(
                (
                    "the printer|the label printer|the office printer",
                    "is jammed|is down|prints blank pages|has no toner",
                )
            ),
        ),
    ),
)

REACH = Scale(
    ("How many people are affected?", "How severe is the incident?"),
    (("Nobody", "No one"), ("A few people", "Some people"), ("Everybody", "All people")),
    (
        cross(
            (
                "No user|No customer|No colleague|Nobody",
                "is affected.|has noticed.|has trouble.|has called.",
            )
        ),
        cross(
            (
                "A few users|Some colleagues|Two customers|Some teams",
                "are affected.|have noticed.|have trouble.|have called.",
            )
        ),
        cross(
            (
                "All users|All customers|All colleagues|All teams",
                "are affected.|have noticed.|have trouble.|have called.",
            )
        ),
    ),
)

SOLVED_ASK = ("Is the incident solved?", "Does it work again?")
SOLVED = (
    cross(
        (
            "It works|Everything runs|It is fixed and works",
            "again.|again now.|again since noon.|well again.",
        )
    ),
    cross(("It is still|It stays|It remains", "broken.|not fixed.|out of order.|down.")),
)

STATUS = ("pending", "shipped", "delivered", "cancelled", "lost")
STATUS_ASK = ("What is the status of the order?", "In which state is the order?")
STATUS_NOUL = {name: (f"Is the order {name}?", f"Is the status {name}?") for name in STATUS}
PRIORITY = ("low", "medium", "high")
PRIORITY_ASK = ("How high is the priority?", "Which priority does the record have?")
PAID_ASK = ("Is the order paid?", "Has the order been paid?")
GIFT_ASK = ("Is the order a gift?", "Is it marked as a gift?")
CITIES = ("Berlin", "Paris", "London", "Madrid", "Rome", "Oslo", "Vienna", "Lisbon")

NAMES = (
    "Anna",
    "Ben",
    "Carla",
    "David",
    "Emma",
    "Felix",
    "Grace",
    "Henry",
    "Iris",
    "Jonas",
    "Klara",
    "Leo",
    "Mia",
    "Noah",
    "Olga",
    "Paul",
)
HELD_NAMES = ("Rita", "Simon", "Tina", "Victor")
PRODUCTS = (
    "lamp",
    "jacket",
    "phone",
    "chair",
    "kettle",
    "camera",
    "desk",
    "blender",
    "watch",
    "tent",
)
HELD_PRODUCTS = ("radio", "carpet")
FILLERS = (
    "I ordered a {product} in {month}.",
    "My name is {name}.",
    "I have been a customer for years.",
    "My order number is {number}.",
    "I bought a {product} in your shop.",
    "I wrote to you in {month}.",
    "{name} told me to write to you.",
)
HELD_FILLERS = (
    "The {product} was a gift from {name}.",
    "My customer number is {number} since {month}.",
)
POST_FILLERS = (
    "See you on Monday, {name}.",
    "I read your post about the {product}.",
    "It rained all day here.",
    "Greetings from {name}.",
)
INCIDENT_FILLERS = (
    "Reported by {name} at {hour} o'clock.",
    "Ticket {number}.",
    "It started in {month}.",
    "{name} is looking into it.",
)
MONTHS = ("January", "March", "April", "June", "July", "August", "October", "December")
