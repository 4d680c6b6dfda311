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
                    "I was charged|my card was charged|I was billed|my card was billed|the bank charged me|you charged me",
                    "twice|again|too much|two times|for nothing|the wrong amount",
                ),
                (
                    "the invoice|the bill|the charge|my last invoice|your invoice|my payment",
                    "is wrong|is too high|shows the wrong amount|was paid already|has a wrong date|was taken twice",
                ),
            ),
        ),
        Meaning(
            "delivery",
            "Parcels and shipping",
            ("Is this about delivery?", "Is this about a parcel?"),
            cross(
                (
                    "my parcel|the package|my shipment|the parcel|my package|your shipment",
                    "is late|has not arrived|was lost|is still on its way|went to the wrong address|is a week late",
                ),
                (
                    "the courier|the driver|the postman|your courier|the delivery man",
                    "never came|lost my parcel|took the package back|went to the wrong house|did not find my street|left the parcel outside",
                ),
            ),
        ),
        Meaning(
            "damage",
            "Broken or faulty goods",
            ("Is this about damage?", "Is something broken?"),
            cross(
                (
                    "the screen|the lamp|the handle|the lid|the glass|the cover",
                    "is broken|has a crack|came off|arrived in pieces|has a deep scratch|fell off",
                ),
                (
                    "the machine|the kettle|the blender|the motor|the camera",
                    "leaks|stopped working|is broken|makes a loud noise|smells of smoke|does not turn on",
                ),
            ),
        ),
        Meaning(
            "account",
            "Login and password trouble",
            ("Is this about an account?", "Is this about a login?"),
            cross(
                (
                    "my password|my login|my user name|my account|my new password",
                    "does not work|was refused|is not accepted|has expired|is locked|is unknown",
                ),
                (
                    "I cannot|I am not able to|I fail to|it is impossible to|I still cannot",
                    "log in|open my account|change my password|sign in|reset my password|get into my account",
                ),
            ),
        ),
        Meaning(
            "technical_support",
            "App or site faults",
            ("Is this about technical support?", "Is the app or the site failing?"),
            cross(
                (
                    "the app|your app|the program|the new app|the software",
                    "crashes|freezes|closes by itself|shows an error|hangs|does not start",
                ),
                (
                    "the website|the page|your site|your website|the web page",
                    "does not load|is very slow|shows an error|stays white|crashes|cannot be opened",
                ),
            ),
        ),
        Meaning(
            "cancellation",
            "Ending a contract",
            ("Is this about a cancellation?", "Does the writer want to cancel?"),
            cross(
                (
                    "I want to cancel|please cancel|I wish to end|please end|I am cancelling|please stop",
                    "my subscription|my contract|my plan|my membership|the subscription|the contract",
                ),
                (
                    "I do not want to renew|I will not renew|please do not renew|do not extend",
                    "my subscription|my contract|my plan|my membership|the subscription|the contract",
                ),
            ),
        ),
    ),
)

WISH = Topic(
    ("What does the customer want?", "What is the wish of the customer?"),
    (
        Meaning(
            "refund",
            "Money back",
            ("Is the customer asking for a refund?",),
            cross(
                (
                    "I want|please give me|I expect|I would like|please send me|I ask for|I demand|I hope for",
                    "a refund|my money back|a full refund|the money back|all my money back|the full refund",
                )
            ),
        ),
        Meaning(
            "replacement",
            "A new one in exchange",
            ("Is the customer asking for a replacement?",),
            cross(
                (
                    "please send|I want|I need|I would like|please send me|I ask for|I expect|I hope for",
                    "a new one|a replacement|another one|an exchange|a free replacement|a working one",
                )
            ),
        ),
        Meaning(
            "call",
            "A phone call",
            ("Is the customer asking for a call?",),
            cross(
                (
                    "please call me|call me back|please phone me|give me a call|please call me back|phone me|I wait for a call|please give me a call",
                    "soon|on my phone|at home|after work|in the evening|at the office",
                )
            ),
        ),
        Meaning(
            "answer",
            "Information only",
            ("Is the customer only asking for an answer?",),
            cross(
                (
                    "please tell me|I only want to know|can you explain|please explain|can you tell me|just tell me|I would like to know|please let me know",
                    "why|what happened|how this works|what I can do|how that could happen|what to do now",
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
                "There is no hurry.|Take your time.|It can wait.|It is not urgent.|This can wait.|I am in no hurry.",
                "It is only a question.|No rush.|Whenever you like.||Any time will do.",
            )
        ),
        cross(
            (
                "I need it|Please do it|Please answer|I need this|Please do this|I expect it",
                "this week.|by Friday.|in a few days.|before the weekend.|by Thursday.|within a few days.",
            )
        ),
        cross(
            (
                "I need this|Please do this|Please fix this|I need it|Please do it|Please answer",
                "today!|right now!|at once!|immediately!|now!|within the hour!",
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
                "Thank you|Many thanks|Thanks a lot|Warm thanks",
                "for your help.|for your work.|and kind regards.|and have a nice day.|for your time.|and best wishes.",
            )
        ),
        cross(
            (
                "This is|I find this|That is|I find that",
                "annoying.|disappointing.|not so nice.|a pity.|a bit annoying.|rather disappointing.",
            )
        ),
        cross(
            (
                "This is|I find this|That is|I find that",
                "outrageous!|a disgrace!|unacceptable!|too much!|absolutely outrageous!|a scandal!",
            ),
            ("I am|I am really|Now I am", "furious!|so angry!|very angry!"),
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
                    "what a|this is a|that was a|thanks for the|I like the|we all enjoyed the",
                    "lovely picture|wonderful garden|great concert|delicious soup|nice song|lovely song",
                )
            ),
        ),
        Meaning(
            "insult",
            "Insults a person",
            ("Is this message an insult?", "Is this message insulting?"),
            cross(
                (
                    "you are a|what a|shut up, you|nobody likes you,|go away, you|you really are a",
                    "stupid idiot|ugly clown|worthless loser|pathetic liar|stupid liar|pathetic idiot",
                )
            ),
        ),
        Meaning(
            "spam",
            "Advertising or a trick",
            ("Is this message spam?", "Is this advertising?"),
            cross(
                (
                    "click here for|visit our shop for|buy now:|order online:|today only:|click now for",
                    "cheap watches|free phones|cheap pills|easy money|free watches|cheap phones",
                )
            ),
        ),
        Meaning(
            "threat",
            "Threatens harm",
            ("Is this message a threat?", "Does this threaten someone?"),
            cross(
                (
                    "I will|we will|tonight I will|tomorrow I will|tonight we will|soon I will",
                    "hurt you|burn your house|break your legs|find you and beat you|beat you|hurt your family",
                )
            ),
        ),
        Meaning(
            "private_data",
            "Gives away private data",
            ("Does this message give away private data?",),
            cross(
                (
                    "her phone number|his card number|her account number|his pin|his phone number|her card number",
                    "is 555 0142|is 4111 2222|is 7730 9910|is 4821|is 555 0199|is 6120 3345",
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
                    "the database|a database table|the database disk|our database|the main database|the database server",
                    "is down|is locked|is full|does not answer|is very slow|has failed",
                )
            ),
        ),
        Meaning(
            "network",
            "Lines, routers, connections",
            ("Is the network affected?",),
            cross(
                (
                    "the network|the router|the network line|our network|the office network|the main router",
                    "is down|is cut|drops out|does not answer|is very slow|has failed",
                )
            ),
        ),
        Meaning(
            "payments",
            "Card payments and checkout",
            ("Are payments affected?",),
            cross(
                (
                    "the payment service|the checkout|the card reader|our checkout|the card payment|the payment page",
                    "is down|declines cards|fails|does not answer|is very slow|has failed",
                )
            ),
        ),
        Meaning(
            "mail",
            "Incoming and outgoing mail",
            ("Is mail affected?",),
            cross(
                (
                    "the mail server|the inbox|the mail queue|our mail|the mail service|the mail inbox",
                    "is down|is full|stays empty|does not answer|is very slow|has failed",
                )
            ),
        ),
        Meaning(
            "printing",
            "Printers and paper",
            ("Is printing affected?",),
            cross(
                (
                    "the printer|the label printer|the office printer|our printer|the big printer|the new printer",
                    "is jammed|is down|prints blank pages|has no toner|is very slow|has failed",
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
                "No user|No customer|No colleague|Nobody|No team|No one",
                "is affected.|has noticed.|has trouble.|has called.|has complained.|sees it.",
            )
        ),
        cross(
            (
                "A few users|Some colleagues|Two customers|Some teams|A few teams|Some customers",
                "are affected.|have noticed.|have trouble.|have called.|have complained.|see it.",
            )
        ),
        cross(
            (
                "All users|All customers|All colleagues|All teams|All offices|Everybody and all users",
                "are affected.|have noticed.|have trouble.|have called.|have complained.|see it.",
            )
        ),
    ),
)

SOLVED_ASK = ("Is the incident solved?", "Does it work again?")
SOLVED = (
    cross(
        (
            "It works|Everything runs|It is fixed and works|Everything works|The service runs|All of it works",
            "again.|again now.|again since noon.|well again.|again today.|as before.",
        )
    ),
    cross(
        (
            "It is still|It stays|It remains|Everything is still|The service is still|All of it is still",
            "broken.|not fixed.|out of order.|down.|not working.|failing.",
        )
    ),
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
